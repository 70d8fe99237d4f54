// One mapping of a kubeconfig (a cluster, a user, an exec plugin) with typed access to its fields
// and errors that say where.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/kube/config.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::kube {

// Views the JSON object; does not own it.
class Entry {
 public:
  Entry(std::string label, const boost::json::object& fields, std::string directory)
      : label_(std::move(label)), fields_(&fields), directory_(std::move(directory)) {}

  bool has(std::string_view field) const;
  // Empty when absent or null.
  base::Result<std::string> text(std::string_view field) const;
  base::Result<bool> flag(std::string_view field) const;
  base::Result<std::vector<std::string>> texts(std::string_view field) const;
  // nullptr when absent or null.
  base::Result<const boost::json::array*> list(std::string_view field) const;
  base::Result<std::optional<Entry>> mapping(std::string_view field) const;
  // PEM from "<field>-data" (base64) or, when that is empty, from the file "<field>".
  base::Result<std::string> data(const std::string& field, std::string_view pem_label) const;

  tl::unexpected<base::Error> invalid(std::string_view field, std::string_view problem) const;
  const std::string& directory() const { return directory_; }

 private:
  const boost::json::value* find(std::string_view field) const;

  std::string label_;
  const boost::json::object* fields_;
  std::string directory_;
};

// The `exec` section of a user.
base::Result<std::optional<ExecPlugin>> read_exec(const Entry& user);

}  // namespace millwright::kube
