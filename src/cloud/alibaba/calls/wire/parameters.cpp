#include "cloud/alibaba/calls/wire/parameters.hpp"

#include "millwright/net/http.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

namespace millwright::cloud::alibaba {

Parameters& Parameters::set(std::string name, std::string value) {
  values_.insert_or_assign(std::move(name), std::move(value));
  return *this;
}

Parameters& Parameters::set(std::string name, bool value) {
  return set(std::move(name), std::string(value ? "true" : "false"));
}

Parameters& Parameters::set_list(std::string_view name, std::span<const std::string> values) {
  int position = 0;
  for (const auto& value : values) {
    set(std::string(name).append(".").append(std::to_string(++position)), value);
  }
  return *this;
}

Parameters& Parameters::set_json_list(std::string name, std::span<const std::string> values) {
  return set(std::move(name),
             boost::json::serialize(boost::json::array(values.begin(), values.end())));
}

Parameters& Parameters::set_tags(std::string_view name, const model::StringMap& tags) {
  int position = 0;
  for (const auto& [key, value] : tags) {
    const auto prefix = std::string(name).append(".").append(std::to_string(++position));
    set(prefix + ".Key", key);
    set(prefix + ".Value", value);
  }
  return *this;
}

Parameters& Parameters::set_tag_filter(const model::StringMap& tags) {
  int position = 0;
  for (const auto& [key, value] : tags) {
    const auto prefix = "Tag." + std::to_string(++position);
    set(prefix + ".Key", key);
    if (value != "*") {
      set(prefix + ".Value", value);
    }
  }
  return *this;
}

std::string_view Parameters::get(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string_view() : found->second;
}

std::string Parameters::query() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    text.append(text.empty() ? "" : "&").append(net::url_encode(name));
    text.append("=").append(net::url_encode(value));
  }
  return text;
}

}  // namespace millwright::cloud::alibaba
