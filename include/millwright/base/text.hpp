// Small operations on ASCII text.
#pragma once

#include <string_view>

namespace millwright::base {

inline constexpr std::string_view kSpaces = " \t\r\n";

// Without white space at either end.
inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

}  // namespace millwright::base
