// Access to JSON for the predicates of rules. A value that is missing or of another type reads as
// absent, so that predicates never throw.
#pragma once

#include "millwright/model/json_fields.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace millwright::schema {

namespace json = boost::json;

using model::as_text;
using model::member;
using model::text_at;

// CEL's has(): a field that is null counts as absent, since the API server prunes nulls.
inline bool has(const json::value& object, std::string_view name) {
  const json::value* found = member(object, name);
  return found != nullptr && !found->is_null();
}

inline const json::array& as_list(const json::value* value) {
  static const json::array kEmpty;
  const json::array* list = value == nullptr ? nullptr : value->if_array();
  return list == nullptr ? kEmpty : *list;
}

inline const json::array& list_at(const json::value& object, std::string_view name) {
  return as_list(member(object, name));
}

inline const json::object& as_object(const json::value* value) {
  static const json::object kEmpty;
  const json::object* fields = value == nullptr ? nullptr : value->if_object();
  return fields == nullptr ? kEmpty : *fields;
}

inline const json::object& object_at(const json::value& parent, std::string_view name) {
  return as_object(member(parent, name));
}

// Whole numbers in any of the ways JSON can write them: 3, 3.0, 3e0.
std::optional<std::int64_t> as_integer(const json::value* value);

inline std::optional<std::int64_t> integer_at(const json::value& object, std::string_view name) {
  return as_integer(member(object, name));
}

}  // namespace millwright::schema
