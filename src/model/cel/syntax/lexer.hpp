// CEL text as tokens.
#pragma once

#include "millwright/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model::cel {

struct Token {
  enum class Kind : std::uint8_t { End, Identifier, Integer, Unsigned, Double, Text, Symbol };
  Kind kind = Kind::End;
  std::string_view text;     // as it is written
  std::string content;       // of Text: without quotes and escapes
  std::size_t position = 0;  // the number of its first character, from 1
};

// The last token is the end. `in` is a symbol; true, false and null are identifiers. The text must
// outlive the tokens.
base::Result<std::vector<Token>> tokenize(std::string_view text);

// A word that CEL keeps for itself; it may be a field, not a variable.
bool is_reserved(std::string_view word);

// "at character 7: <problem>".
tl::unexpected<base::Error> problem_at(std::size_t position, std::string_view problem);

}  // namespace millwright::model::cel
