// The operators whose operands are all evaluated before.
#pragma once

#include "model/cel/functions/functions.hpp"

#include <optional>

namespace millwright::model::cel {

// Of two operands: + - * / % == != < <= > >= in.
Function find_operator(std::string_view symbol);
base::Result<Value> negate(Arguments arguments, Budget& budget);
base::Result<Value> logical_not(Arguments arguments, Budget& budget);

// What container[key] is; nullopt where it has no such key. Invalid for what is no list or map.
base::Result<std::optional<Value>> element(const Value& container, const Value& key,
                                           Budget& budget);

}  // namespace millwright::model::cel
