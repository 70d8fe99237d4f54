// The extender's JSON. Reading ignores the case of field names, as Go's decoder does; writing uses
// the exact names.
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <string>
#include <string_view>

namespace millwright::extender {

// The memory of one request's JSON, which must outlive everything parsed into it.
class RequestMemory {
 public:
  boost::json::storage_ptr storage() { return &resource_; }

 private:
  std::array<unsigned char, 16 * 1024> buffer_;
  boost::json::monotonic_resource resource_{buffer_.data(), buffer_.size()};
};

bool same_field_name(std::string_view a, std::string_view b);
// The field of exactly that name, else the first of that name in another case; nullptr when there
// is none or it is null.
const boost::json::value* find_field(const boost::json::object& object, std::string_view name);

// Invalid says at which byte. At most 64 levels deep and 500,000 values.
base::Result<boost::json::value> parse_request(std::string_view text, RequestMemory& memory);

// A JSON string literal; bytes that are not ASCII are copied.
void append_quoted(std::string& out, std::string_view text);

}  // namespace millwright::extender
