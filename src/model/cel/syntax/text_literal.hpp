// Text between quotes: '…', "…", and three of either around text of several lines; with r before
// it a backslash is a backslash.
#pragma once

#include "millwright/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace millwright::model::cel {

struct TextLiteral {
  std::string content;
  std::size_t length = 0;  // bytes of source, quotes included
};

bool begins_text(std::string_view source);
// `source` begins with the literal, and goes on behind it.
base::Result<TextLiteral> read_text_literal(std::string_view source);

}  // namespace millwright::model::cel
