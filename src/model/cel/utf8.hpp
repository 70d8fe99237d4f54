// Text as CEL counts it, in code points. Bytes that are no UTF-8 do no harm: each that does not go
// on with a code point begins one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::model::cel {

inline bool begins_code_point(char c) {
  // The others have 10 as their top bits.
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

std::size_t code_points(std::string_view text);
// Where in the text the code point of this index begins: the end for the one after the last, and
// nullopt beyond.
std::optional<std::size_t> offset_of(std::string_view text, std::size_t index);
// False for what is no code point.
[[nodiscard]] bool append_code_point(std::string& text, std::uint32_t code_point);

}  // namespace millwright::model::cel
