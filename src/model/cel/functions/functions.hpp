// The functions and operators of CEL and of Kubernetes' libraries. They look at the types of their
// arguments when they are called; what has no use for them is Invalid. The length of text among the
// arguments is paid for by the caller; a function pays for what it makes and for what takes longer.
#pragma once

#include "model/cel/value.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace millwright::model::cel {

using Arguments = std::span<const Value>;
using Function = base::Result<Value> (*)(Arguments arguments, Budget& budget);

struct FunctionEntry {
  enum class Style : std::uint8_t { Global, Member, Either };
  std::string_view name;
  Style style;
  std::uint8_t least;  // arguments, with the value before the dot
  std::uint8_t most;
  Function call;
};

// nullptr when there is none. A member is called as value.name(…).
const FunctionEntry* find_function(std::string_view name, bool member);

// The parts of the table.
std::span<const FunctionEntry> text_functions();
std::span<const FunctionEntry> conversion_functions();
std::span<const FunctionEntry> kubernetes_functions();

// "cannot be applied to (int, string)".
tl::unexpected<base::Error> unsuitable(Arguments arguments);
tl::unexpected<base::Error> failed(std::string problem);

}  // namespace millwright::model::cel
