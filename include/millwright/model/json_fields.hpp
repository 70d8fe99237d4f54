// Reading JSON whose fields may be missing or of the wrong type: such a field reads as nullptr, or
// as empty text. What these functions return lives as long as the JSON that they were given.
#pragma once

#include <boost/json/fwd.hpp>

#include <string_view>

namespace millwright::model {

// Walks "spec.template.spec"; nullptr when a step is missing or not an object.
const boost::json::value* find_path(const boost::json::value& json, std::string_view dotted_path);

// One field, whose name may contain dots.
const boost::json::value* member(const boost::json::value& object, std::string_view name);
const boost::json::value* member(const boost::json::value* object, std::string_view name);

// The string itself; empty when there is no value or it is no string.
std::string_view as_text(const boost::json::value* value);
std::string_view text_at(const boost::json::value& json, std::string_view dotted_path);

// What == says, without the copy that Boost 1.81 makes of each member that it compares.
bool same_json(const boost::json::value& a, const boost::json::value& b);

}  // namespace millwright::model
