#include "millwright/model/json_fields.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace millwright::model {

namespace json = boost::json;

const json::value* find_path(const json::value& json, std::string_view dotted_path) {
  const json::value* value = &json;
  while (true) {
    const std::size_t dot = dotted_path.find('.');
    value = member(*value, dotted_path.substr(0, dot));
    if (value == nullptr || dot == std::string_view::npos) {
      return value;
    }
    dotted_path.remove_prefix(dot + 1);
  }
}

const json::value* member(const json::value& object, std::string_view name) {
  const json::object* const fields = object.if_object();
  return fields == nullptr ? nullptr : fields->if_contains(name);
}

const json::value* member(const json::value* object, std::string_view name) {
  return object == nullptr ? nullptr : member(*object, name);
}

std::string_view as_text(const json::value* value) {
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

std::string_view text_at(const json::value& json, std::string_view dotted_path) {
  return as_text(find_path(json, dotted_path));
}

bool same_json(const json::value& a, const json::value& b) {
  if (a.is_object() && b.is_object()) {
    const json::object& fields = a.get_object();
    const json::object& others = b.get_object();
    return fields.size() == others.size() &&
           std::all_of(fields.begin(), fields.end(), [&others](const auto& field) {
             const json::value* const other = others.if_contains(field.key());
             return other != nullptr && same_json(field.value(), *other);
           });
  }
  if (a.is_array() && b.is_array()) {
    const json::array& items = a.get_array();
    const json::array& others = b.get_array();
    return std::equal(items.begin(), items.end(), others.begin(), others.end(), same_json);
  }
  return a == b;
}

}  // namespace millwright::model
