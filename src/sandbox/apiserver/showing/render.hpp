// Objects and lists in the form the client asked for: whole, as a server-side Table (what kubectl
// get prints) or metadata only.
#pragma once

#include "millwright/base/time.hpp"
#include "sandbox/apiserver/rest/request.hpp"
#include "sandbox/apiserver/store/store.hpp"

#include <string>
#include <vector>

namespace millwright::sandbox {

struct RenderOptions {
  Form form = Form::Whole;
  std::string include_object;  // Table rows: "" or Metadata, Object, None
  base::TimePoint now;
  bool without_columns = false;  // later events of a Table watch leave the header out
};

struct ListMeta {
  std::string resource_version;
  std::string continue_;
  std::int64_t remaining = 0;
};

Json render_object(const ResourceInfo& info, const Json& object, const RenderOptions& options);
// The list as text, since objects may be many.
std::string render_list(const ResourceInfo& info, const std::vector<Object>& objects,
                        const ListMeta& meta, const RenderOptions& options);

// table.cpp and its printers
struct Column {
  std::string name;
  std::string type = "string";
  std::string format;
  std::string description;
  int priority = 0;
};
std::vector<Column> columns_of(const ResourceInfo& info);
boost::json::array cells_of(const ResourceInfo& info, const Json& object, base::TimePoint now);

}  // namespace millwright::sandbox
