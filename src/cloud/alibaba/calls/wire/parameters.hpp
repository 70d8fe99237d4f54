// The parameters of an RPC-style call (ECS, VPC, STS): names and values, lists as "Name.1",
// "Name.2". Kept in the order that signatures want, that is by byte.
#pragma once

#include "millwright/model/labels.hpp"

#include <concepts>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace millwright::cloud::alibaba {

class Parameters {
 public:
  Parameters& set(std::string name, std::string value);
  Parameters& set(std::string name, const char* value) {
    return set(std::move(name), std::string(value));
  }
  Parameters& set(std::string name, std::string_view value) {
    return set(std::move(name), std::string(value));
  }
  Parameters& set(std::string name, bool value);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Parameters& set(std::string name, T value) {
    return set(std::move(name), std::to_string(value));
  }
  // "<name>.1", "<name>.2", ...
  Parameters& set_list(std::string_view name, std::span<const std::string> values);
  // As one value, the text of a JSON array: how DescribeInstances takes ids.
  Parameters& set_json_list(std::string name, std::span<const std::string> values);
  // "<name>.<n>.Key", "<name>.<n>.Value", numbered from one.
  Parameters& set_tags(std::string_view name, const model::StringMap& tags);
  // For a search: a tag whose value is "*" is looked for by its key alone.
  Parameters& set_tag_filter(const model::StringMap& tags);

  // Empty when it is not set.
  std::string_view get(std::string_view name) const;
  const std::map<std::string, std::string, std::less<>>& all() const { return values_; }
  // "a=b&c=", percent-encoded as RFC 3986 has it, which is what signatures want too.
  std::string query() const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace millwright::cloud::alibaba
