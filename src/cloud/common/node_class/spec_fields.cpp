#include "cloud/common/node_class/spec_fields.hpp"

#include "millwright/model/json_fields.hpp"

namespace millwright::cloud {

namespace json = boost::json;
using model::member;

const json::array& list_at(const json::value& value, std::string_view key) {
  static const json::array none;
  const auto* found = member(value, key);
  const auto* array = found == nullptr ? nullptr : found->if_array();
  return array == nullptr ? none : *array;
}

const json::value& part_at(const json::value& value, std::string_view key) {
  static const json::value none;
  const auto* found = member(value, key);
  return found == nullptr ? none : *found;
}

std::optional<std::int64_t> integer_at(const json::value& value, std::string_view key) {
  const auto* found = member(value, key);
  return found != nullptr && found->is_int64() ? std::optional(found->get_int64()) : std::nullopt;
}

std::optional<bool> boolean_at(const json::value& value, std::string_view key) {
  const auto* found = member(value, key);
  return found != nullptr && found->is_bool() ? std::optional(found->get_bool()) : std::nullopt;
}

model::StringMap texts_at(const json::value& value, std::string_view key) {
  model::StringMap result;
  const auto* object = part_at(value, key).if_object();
  if (object == nullptr) {
    return result;
  }
  for (const auto& [name, each] : *object) {
    if (each.is_string()) {
      result.emplace(name, std::string(each.get_string()));
    } else if (each.is_int64()) {
      result.emplace(name, std::to_string(each.get_int64()));
    }
  }
  return result;
}

}  // namespace millwright::cloud
