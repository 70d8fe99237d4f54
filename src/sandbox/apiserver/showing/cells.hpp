// The cells of a printed row: what a column shows of an object.
#pragma once

#include "sandbox/apiserver/showing/printers.hpp"

#include <boost/json.hpp>

#include <string_view>

namespace millwright::sandbox {

using Cells = boost::json::array;

inline Json cell(std::string_view value, std::string_view absent = "<none>") {
  return Json(value.empty() ? absent : value);
}

inline Json number(const Json& object, std::string_view path) {
  return integer(object, path);
}

inline Json age(const Json& object, base::TimePoint now) {
  return Json(age_of(object, now));
}

}  // namespace millwright::sandbox
