// Reading the spec and status of a NodeClass, which the API server's schema has checked for shape:
// a field that is missing or of the wrong type reads as nothing. What is returned by reference
// lives as long as the JSON that was given.
#pragma once

#include "millwright/model/labels.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace millwright::cloud {

const boost::json::array& list_at(const boost::json::value& value, std::string_view key);
const boost::json::value& part_at(const boost::json::value& value, std::string_view key);
std::optional<std::int64_t> integer_at(const boost::json::value& value, std::string_view key);
std::optional<bool> boolean_at(const boost::json::value& value, std::string_view key);
// Texts by name; whole numbers count as texts, as quantities may be written either way.
model::StringMap texts_at(const boost::json::value& value, std::string_view key);

}  // namespace millwright::cloud
