// Numbers as they are written: 12, 0x1F, 7u, 1.5e3.
#pragma once

#include "model/cel/syntax/lexer.hpp"
#include "model/cel/value.hpp"

namespace millwright::model::cel {

// Of a token that is a number, with its sign.
base::Result<Value> number_literal(const Token& token, bool negative);

}  // namespace millwright::model::cel
