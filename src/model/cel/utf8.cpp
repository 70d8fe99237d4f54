#include "model/cel/utf8.hpp"

#include <algorithm>

namespace millwright::model::cel {

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_code_point));
}

std::optional<std::size_t> offset_of(std::string_view text, std::size_t index) {
  std::size_t begun = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_code_point(text[i]) && begun++ == index) {
      return i;
    }
  }
  return begun == index ? std::optional(text.size()) : std::nullopt;
}

bool append_code_point(std::string& text, std::uint32_t code_point) {
  constexpr std::uint32_t kLast = 0x10FFFF;
  constexpr std::uint32_t kFirstSurrogate = 0xD800;
  constexpr std::uint32_t kLastSurrogate = 0xDFFF;
  if (code_point > kLast || (code_point >= kFirstSurrogate && code_point <= kLastSurrogate)) {
    return false;
  }
  const auto byte = [&text](std::uint32_t value) { text += static_cast<char>(value); };
  const auto continuation = [&](int shift) { byte(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | (code_point >> 6));
    continuation(0);
  } else if (code_point < 0x10000) {
    byte(0xE0 | (code_point >> 12));
    continuation(6);
    continuation(0);
  } else {
    byte(0xF0 | (code_point >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
  return true;
}

}  // namespace millwright::model::cel
