// Taking the text of annotations apart.
#pragma once

#include "millwright/base/text.hpp"

#include <string_view>
#include <vector>

namespace millwright::disruption {

using base::kSpaces;
using base::trimmed;

// What is between any of the separators, trimmed; empty parts are left out.
inline std::vector<std::string_view> words_between(std::string_view text,
                                                   std::string_view separators) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto end = text.find_first_of(separators);
    if (const auto word = trimmed(text.substr(0, end)); !word.empty()) {
      words.push_back(word);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

}  // namespace millwright::disruption
