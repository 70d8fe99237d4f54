#include "model/cel/syntax/number_literal.hpp"

#include <charconv>
#include <limits>
#include <optional>

namespace millwright::model::cel {
namespace {

std::optional<std::uint64_t> whole_number(std::string_view digits) {
  const bool hexadecimal = digits.starts_with("0x");
  digits.remove_prefix(hexadecimal ? 2 : 0);
  std::uint64_t number = 0;
  const auto read =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hexadecimal ? 16 : 10);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

tl::unexpected<base::Error> does_not_fit() {
  return base::fail(base::ErrorKind::Invalid, "the number does not fit in 64 bits");
}

}  // namespace

base::Result<Value> number_literal(const Token& token, bool negative) {
  std::string_view digits = token.text;
  if (token.kind == Token::Kind::Double) {
    double number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc()) {
      return does_not_fit();
    }
    return Value{negative ? -number : number};
  }
  if (token.kind == Token::Kind::Unsigned) {
    digits.remove_suffix(1);
  }
  const auto number = whole_number(digits);
  if (!number) {
    return does_not_fit();
  }
  if (token.kind == Token::Kind::Unsigned) {
    return Value{*number};
  }
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (*number > kLargest + (negative ? 1 : 0)) {
    return does_not_fit();
  }
  // In unsigned arithmetic, where the smallest int has its own negative.
  return Value{static_cast<std::int64_t>(negative ? 0 - *number : *number)};
}

}  // namespace millwright::model::cel
