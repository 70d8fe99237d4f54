// Access to JSON by path, for all of this module. Paths are dotted
// ("spec.template.metadata"); keys that contain dots (labels) are looked up by hand.
#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::sandbox {

using Json = boost::json::value;

// nullptr when a step is missing or not an object.
const Json* find(const Json& json, std::string_view path);
Json* find(Json& json, std::string_view path);
// The string there; empty when absent or not a string.
std::string_view text(const Json& json, std::string_view path);
std::int64_t integer(const Json& json, std::string_view path, std::int64_t fallback = 0);
bool boolean(const Json& json, std::string_view path);
// The array there; an empty one when absent.
const boost::json::array& items(const Json& json, std::string_view path);
// The object there; an empty one when absent.
const boost::json::object& fields(const Json& json, std::string_view path);
// The value there, with objects made on the way; null when it is new.
Json& make(Json& json, std::string_view path);
// The same as an object or array, whatever it was before.
boost::json::object& make_object(Json& json, std::string_view path);
boost::json::array& make_array(Json& json, std::string_view path);
void erase(Json& json, std::string_view path);
// Sets only what is absent; true when it did.
bool set_default(Json& json, std::string_view path, Json value);
// A number, or the digits of a string (IntOrString); nullopt for a percentage and the rest.
std::optional<std::int64_t> as_integer(const Json& json);
std::string to_text(const Json& json);

}  // namespace millwright::sandbox
