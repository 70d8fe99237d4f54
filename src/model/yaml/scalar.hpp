// The type of a YAML scalar, as kubectl's reader (go-yaml v2, a YAML 1.1 dialect) decides it:
// "yes" and "on" are booleans, 0777 is octal, 1_000 is a number, dates stay text.
#pragma once

#include <boost/json/value.hpp>

#include <optional>
#include <string_view>

namespace millwright::model::yaml {

// A plain (unquoted, untagged) scalar. nullopt for infinities and NaN, which JSON does not have.
std::optional<boost::json::value> resolve_plain(std::string_view text);

}  // namespace millwright::model::yaml
