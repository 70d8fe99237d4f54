#include "schema/engine/go_text.hpp"

#include <charconv>

namespace millwright::schema {

std::optional<std::int64_t> parse_go_int(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) {
      return std::nullopt;
    }
  }
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) {
    return std::nullopt;
  }
  return value;
}

}  // namespace millwright::schema
