// What `kubectl get` shows of built-in kinds. The name column is left to the caller.
#pragma once

#include "millwright/base/time.hpp"
#include "sandbox/json.hpp"

#include <boost/json/array.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace millwright::sandbox {

struct PrinterColumnName {
  std::string_view name;
  bool wide = false;
  bool is_number = false;
};

struct Printer {
  std::string_view kind;
  std::vector<PrinterColumnName> columns;
  boost::json::array (*print)(const Json& object, base::TimePoint now);
  bool without_name = false;
};

const std::vector<Printer>& workload_printers();
const std::vector<Printer>& configuration_printers();
// nullptr: the kind has only a name and a creation time.
const Printer* find_printer(std::string_view kind);

// "5m", or "<unknown>" for no time.
std::string age_since(std::string_view rfc3339, base::TimePoint now);
std::string age_of(const Json& object, base::TimePoint now);
// "a=1,b in (x,y)" or "<none>".
std::string selector_text(const Json* selector);
std::string container_names(const Json& pod_spec);
std::string container_images(const Json& pod_spec);
// The status column of a pod: its phase, or what keeps it from it.
std::string pod_status_text(const Json& pod);

}  // namespace millwright::sandbox
