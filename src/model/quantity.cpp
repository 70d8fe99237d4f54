#include "millwright/model/quantity.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace millwright::model {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

struct Suffix {
  std::string_view text;
  int exponent;  // of 10 or, for binary suffixes, of 2
};
constexpr std::array<Suffix, 10> kDecimalSuffixes{{{"n", -9},
                                                   {"u", -6},
                                                   {"m", -3},
                                                   {"", 0},
                                                   {"k", 3},
                                                   {"M", 6},
                                                   {"G", 9},
                                                   {"T", 12},
                                                   {"P", 15},
                                                   {"E", 18}}};
constexpr std::array<Suffix, 6> kBinarySuffixes{
    {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The digits of a number as far as they can matter, and where its decimal point belongs.
struct Mantissa {
  // Twenty digits shifted by the largest binary suffix still fit in 128 bits, and are more than a
  // 64-bit result can show.
  static constexpr int kMaxDigits = 20;
  Wide value = 0;
  int digits = 0;        // significant ones kept in `value`
  int exponent = 0;      // of 10, to apply to `value`
  bool dropped = false;  // a non-zero digit did not fit

  void add(char c, bool after_point) {
    if (digits == 0 && c == '0') {
      exponent -= after_point ? 1 : 0;
      return;
    }
    if (digits == kMaxDigits) {
      dropped = dropped || c != '0';
      exponent += after_point ? 0 : 1;
      return;
    }
    value = value * 10 + static_cast<unsigned>(c - '0');
    ++digits;
    exponent -= after_point ? 1 : 0;
  }
};

struct Scale {
  Quantity::Format format = Quantity::Format::DecimalSI;
  int power_of_ten = 0;
  int power_of_two = 0;
};

std::optional<Scale> parse_suffix(std::string_view text) {
  for (const Suffix& suffix : kDecimalSuffixes) {
    if (suffix.text == text) {
      return Scale{Quantity::Format::DecimalSI, suffix.exponent, 0};
    }
  }
  for (const Suffix& suffix : kBinarySuffixes) {
    if (suffix.text == text) {
      return Scale{Quantity::Format::BinarySI, 0, suffix.exponent};
    }
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  const bool plus = text.starts_with('+');
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(plus || negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  int exponent = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  // Beyond this nothing changes any more, and the sums below cannot overflow.
  constexpr int kFar = 100'000;
  if (result.ec != std::errc() || exponent > kFar) {
    exponent = kFar;
  }
  return Scale{Quantity::Format::DecimalExponent, negative ? -exponent : exponent, 0};
}

// mantissa × 10^power, rounded up; saturated at 2^63 so that the sign can still be applied.
Wide scaled(Wide value, int power, bool inexact) {
  constexpr Wide kCeiling = Wide{1} << 63;
  for (; power > 0 && value != 0 && value < kCeiling; --power) {
    value *= 10;
  }
  for (; power < 0 && value != 0; ++power) {
    inexact = inexact || value % 10 != 0;
    value /= 10;
  }
  value += inexact ? 1 : 0;
  return value < kCeiling ? value : kCeiling;
}

// "12k" from a value and its power of ten, which must be a multiple of three from -3 to 15.
std::string with_decimal_suffix(std::int64_t value, int exponent, Quantity::Format format) {
  std::string text = std::to_string(value);
  if (format == Quantity::Format::DecimalExponent) {
    return exponent == 0 ? text : text + "e" + std::to_string(exponent);
  }
  for (const Suffix& suffix : kDecimalSuffixes) {
    if (suffix.exponent == exponent) {
      text += suffix.text;
    }
  }
  return text;
}

}  // namespace

Quantity Quantity::from_units(std::int64_t units, Format format) {
  if (units > kMax / 1000) {
    return from_milli(kMax, format);
  }
  if (units < kMin / 1000) {
    return from_milli(kMin, format);
  }
  return from_milli(units * 1000, format);
}

base::Result<Quantity> Quantity::parse(std::string_view text) {
  const auto invalid = [text] {
    return base::fail(base::ErrorKind::Invalid,
                      "\"" + std::string(text) +
                          "\" is not a quantity; write for example 2, 500m, 1.5Gi, 10G or 2e3");
  };
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) {
    rest.remove_prefix(1);
  }
  Mantissa mantissa;
  bool any_digit = false;
  bool after_point = false;
  while (!rest.empty() && (is_digit(rest.front()) || (rest.front() == '.' && !after_point))) {
    if (rest.front() == '.') {
      after_point = true;
    } else {
      mantissa.add(rest.front(), after_point);
      any_digit = true;
    }
    rest.remove_prefix(1);
  }
  const auto scale = parse_suffix(rest);
  if (!any_digit || !scale) {
    return invalid();
  }
  if (mantissa.value == 0) {
    return from_milli(0, scale->format);
  }
  const Wide milli = scaled(mantissa.value << scale->power_of_two,
                            mantissa.exponent + scale->power_of_ten + 3, mantissa.dropped);
  constexpr auto kWideMax = static_cast<Wide>(kMax);
  if (negative) {
    return from_milli(milli > kWideMax ? kMin : -static_cast<std::int64_t>(milli), scale->format);
  }
  return from_milli(milli > kWideMax ? kMax : static_cast<std::int64_t>(milli), scale->format);
}

std::int64_t Quantity::units() const {
  const std::int64_t whole = milli_ / 1000;
  const std::int64_t rest = milli_ % 1000;
  if (rest == 0) {
    return whole;
  }
  return rest > 0 ? whole + 1 : whole - 1;
}

std::string Quantity::to_string() const {
  if (milli_ == 0) {
    return "0";
  }
  const std::int64_t whole = milli_ / 1000;
  // Below 1024, or with a fraction, a binary suffix would lose the value.
  if (format_ == Format::BinarySI && milli_ % 1000 == 0 && (whole >= 1024 || whole <= -1024)) {
    std::int64_t value = whole;
    std::string_view suffix;
    for (const Suffix& next : kBinarySuffixes) {
      if (value % 1024 != 0) {
        break;
      }
      value /= 1024;
      suffix = next.text;
    }
    return std::to_string(value).append(suffix);
  }
  std::int64_t value = milli_;
  int exponent = -3;
  for (; value % 1000 == 0; exponent += 3) {
    value /= 1000;
  }
  const Format format = format_ == Format::BinarySI ? Format::DecimalSI : format_;
  return with_decimal_suffix(value, exponent, format);
}

Quantity& Quantity::operator+=(Quantity other) {
  if (milli_ == 0) {
    format_ = other.format_;
  }
  if (__builtin_add_overflow(milli_, other.milli_, &milli_)) {
    milli_ = other.milli_ > 0 ? kMax : kMin;
  }
  return *this;
}

Quantity& Quantity::operator*=(std::int64_t times) {
  const bool negative = (milli_ < 0) != (times < 0);
  if (__builtin_mul_overflow(milli_, times, &milli_)) {
    milli_ = negative ? kMin : kMax;
  }
  return *this;
}

Quantity& Quantity::operator-=(Quantity other) {
  if (milli_ == 0) {
    format_ = other.format_;
  }
  if (__builtin_sub_overflow(milli_, other.milli_, &milli_)) {
    milli_ = other.milli_ < 0 ? kMax : kMin;
  }
  return *this;
}

}  // namespace millwright::model
