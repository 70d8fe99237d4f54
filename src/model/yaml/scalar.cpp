#include "model/yaml/scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace millwright::model::yaml {
namespace {

namespace json = boost::json;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 11> kTrueWords{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                      "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalseWords{
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 5> kNullWords{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 12> kNotFinite{".nan",  ".NaN",  ".NAN",  ".inf",
                                                      ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                      "+.INF", "-.inf", "-.Inf", "-.INF"};

// Removes a base prefix and says which base it announced; a leading zero announces octal.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') {
    return 10;
  }
  switch (digits[1]) {
    case 'x':
    case 'X':
      digits.remove_prefix(2);
      return 16;
    case 'b':
    case 'B':
      digits.remove_prefix(2);
      return 2;
    case 'o':
    case 'O':
      digits.remove_prefix(2);
      return 8;
    default:
      digits.remove_prefix(1);
      return 8;
  }
}

// Go's strconv.ParseInt and then ParseUint, both with base 0.
std::optional<json::value> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const bool has_sign = negative || text.starts_with('+');
  std::string_view digits = text.substr(has_sign ? 1 : 0);
  const int base = take_base(digits);
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude <= kMax) {
    const auto value = static_cast<std::int64_t>(magnitude);
    return json::value(negative ? -value : value);
  }
  if (negative && magnitude == kMax + 1) {
    return json::value(std::numeric_limits<std::int64_t>::min());
  }
  return has_sign ? std::nullopt : std::optional(json::value(magnitude));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  std::size_t i = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const auto take_digits = [&text, &i] {
    const std::size_t start = i;
    while (i < text.size() && is_digit(text[i])) {
      ++i;
    }
    return i - start;
  };
  const bool whole = take_digits() > 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (take_digits() == 0 && !whole) {
      return false;
    }
  } else if (!whole) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) {
      ++i;
    }
    if (take_digits() == 0) {
      return false;
    }
  }
  return i == text.size();
}

// A whole number is written without a point when Go turns it into JSON, so it is an integer here.
json::value number(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (std::trunc(value) == value && value < kLimit && value >= -kLimit) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

std::optional<json::value> parse_float(std::string_view text) {
  if (!looks_like_float(text)) {
    return std::nullopt;
  }
  const std::string_view unsigned_text = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto result =
      std::from_chars(unsigned_text.data(), unsigned_text.data() + unsigned_text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    // Too small is zero in Go; too large is no number, hence text.
    const std::size_t exponent = text.find_first_of("eE");
    const bool small = exponent != std::string_view::npos && text[exponent + 1] == '-';
    return small ? std::optional(json::value(0)) : std::nullopt;
  }
  return number(value);
}

}  // namespace

std::optional<json::value> resolve_plain(std::string_view text) {
  if (is_one_of(text, kNullWords)) {
    return json::value(nullptr);
  }
  if (is_one_of(text, kTrueWords)) {
    return json::value(true);
  }
  if (is_one_of(text, kFalseWords)) {
    return json::value(false);
  }
  if (is_one_of(text, kNotFinite)) {
    return std::nullopt;
  }
  const char first = text.front();
  if (first == '.') {
    if (auto value = parse_float(text)) {
      return value;
    }
  } else if (is_digit(first) || first == '-' || first == '+') {
    std::string plain(text);
    std::erase(plain, '_');
    if (auto value = parse_integer(plain)) {
      return value;
    }
    if (auto value = parse_float(plain)) {
      return value;
    }
  }
  return json::value(json::string(text));
}

}  // namespace millwright::model::yaml
