// Conversions between the types of CEL.
#include "model/cel/functions/functions.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace millwright::model::cel {
namespace {

tl::unexpected<base::Error> out_of_range(std::string_view type) {
  return failed("the number does not fit in an " + std::string(type));
}

// All of a text as a number. from_chars has no plus sign, which Go reads.
template <class T>
std::optional<T> parse_all(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) {
      return std::nullopt;
    }
  }
  T number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(number)
                                                                         : std::nullopt;
}

template <class T>
base::Result<Value> parsed(const Value& text, std::string_view type) {
  if (const auto number = parse_all<T>(**text.as<SharedText>())) {
    return Value{*number};
  }
  return failed(describe(text) + " is not of type " + std::string(type));
}

constexpr double kTwoTo63 = 9223372036854775808.0;

base::Result<Value> to_int(Arguments arguments, Budget&) {
  const Value& value = arguments[0];
  if (value.as<std::int64_t>() != nullptr) {
    return value;
  }
  if (const auto* const number = value.as<std::uint64_t>()) {
    if (*number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return out_of_range("int");
    }
    return Value{static_cast<std::int64_t>(*number)};
  }
  if (const auto* const number = value.as<double>()) {
    // Not a number compares with nothing.
    if (!(*number > -kTwoTo63 && *number < kTwoTo63)) {
      return out_of_range("int");
    }
    return Value{static_cast<std::int64_t>(*number)};
  }
  return value.as<SharedText>() != nullptr ? parsed<std::int64_t>(value, "int")
                                           : unsuitable(arguments);
}

base::Result<Value> to_uint(Arguments arguments, Budget&) {
  const Value& value = arguments[0];
  if (value.as<std::uint64_t>() != nullptr) {
    return value;
  }
  if (const auto* const number = value.as<std::int64_t>()) {
    if (*number < 0) {
      return out_of_range("uint");
    }
    return Value{static_cast<std::uint64_t>(*number)};
  }
  if (const auto* const number = value.as<double>()) {
    if (!(*number >= 0 && *number < 2 * kTwoTo63)) {
      return out_of_range("uint");
    }
    return Value{static_cast<std::uint64_t>(*number)};
  }
  return value.as<SharedText>() != nullptr ? parsed<std::uint64_t>(value, "uint")
                                           : unsuitable(arguments);
}

base::Result<Value> to_double(Arguments arguments, Budget&) {
  const Value& value = arguments[0];
  if (value.as<double>() != nullptr) {
    return value;
  }
  if (const auto* const number = value.as<std::int64_t>()) {
    return Value{static_cast<double>(*number)};
  }
  if (const auto* const number = value.as<std::uint64_t>()) {
    return Value{static_cast<double>(*number)};
  }
  return value.as<SharedText>() != nullptr ? parsed<double>(value, "double")
                                           : unsuitable(arguments);
}

// As Go prints it: the shortest digits that give the number again, with an exponent where it is
// below -4 or above 20.
std::string double_text(double number) {
  if (std::isnan(number)) {
    return "NaN";
  }
  if (std::isinf(number)) {
    return number > 0 ? "+Inf" : "-Inf";
  }
  const double magnitude = std::fabs(number);
  const bool plain = number == 0 || (magnitude >= 1e-4 && magnitude < 1e21);
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), end.ptr};
}

base::Result<Value> to_text(Arguments arguments, Budget&) {
  const Value& value = arguments[0];
  if (value.as<SharedText>() != nullptr) {
    return value;
  }
  if (const auto* const number = value.as<std::int64_t>()) {
    return make_text(std::to_string(*number));
  }
  if (const auto* const number = value.as<std::uint64_t>()) {
    return make_text(std::to_string(*number));
  }
  if (const auto* const number = value.as<double>()) {
    return make_text(double_text(*number));
  }
  if (const auto* const flag = value.as<bool>()) {
    return make_text(*flag ? "true" : "false");
  }
  return unsuitable(arguments);
}

base::Result<Value> to_bool(Arguments arguments, Budget&) {
  const Value& value = arguments[0];
  if (value.as<bool>() != nullptr) {
    return value;
  }
  const auto* const text = value.as<SharedText>();
  if (text == nullptr) {
    return unsuitable(arguments);
  }
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (**text == yes) {
      return Value{true};
    }
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (**text == no) {
      return Value{false};
    }
  }
  return failed(describe(value) + " is not of type bool");
}

constexpr auto kConversionStyle = FunctionEntry::Style::Global;
constexpr std::array kConversionFunctions{
    FunctionEntry{"int", kConversionStyle, 1, 1, to_int},
    FunctionEntry{"uint", kConversionStyle, 1, 1, to_uint},
    FunctionEntry{"double", kConversionStyle, 1, 1, to_double},
    FunctionEntry{"string", kConversionStyle, 1, 1, to_text},
    FunctionEntry{"bool", kConversionStyle, 1, 1, to_bool},
};

}  // namespace

std::span<const FunctionEntry> conversion_functions() {
  return kConversionFunctions;
}

}  // namespace millwright::model::cel
