// Numbers in text, read as Go and CEL read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace millwright::schema {

// strconv.ParseInt(text, 10, 64): an optional sign, then digits; nullopt for anything else.
std::optional<std::int64_t> parse_go_int(std::string_view text);

}  // namespace millwright::schema
