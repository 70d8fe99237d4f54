#include "millwright/base/time.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace millwright::base {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads fixed-width numbers and literals from the front of a text; once it failed it stays so.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    int value = 0;
    if (rest_.size() < digits) {
      ok_ = false;
      return 0;
    }
    for (std::size_t i = 0; i < digits; ++i) {
      ok_ = ok_ && is_digit(rest_[i]);
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return ok_ ? value : 0;
  }
  void expect(char c) {
    if (!take(c)) {
      ok_ = false;
    }
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  // ".123456" as nanoseconds; digits beyond the ninth are dropped.
  std::int64_t fraction() {
    if (!take('.')) {
      return 0;
    }
    std::int64_t nanos = 0;
    std::int64_t unit = kNanosPerSecond / 10;
    ok_ = ok_ && !rest_.empty() && is_digit(rest_.front());
    while (!rest_.empty() && is_digit(rest_.front())) {
      nanos += (rest_.front() - '0') * unit;
      unit /= 10;
      rest_.remove_prefix(1);
    }
    return nanos;
  }
  // "Z" or "+05:30", in seconds east of UTC.
  std::int64_t offset() {
    if (take('Z')) {
      return 0;
    }
    const bool west = take('-');
    if (!west) {
      expect('+');
    }
    const int hours = number(2);
    expect(':');
    const int minutes = number(2);
    ok_ = ok_ && hours <= 23 && minutes <= 59;
    const std::int64_t seconds = hours * 3600 + minutes * 60;
    return west ? -seconds : seconds;
  }
  bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct CivilTime {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<Duration> clock;
};

CivilTime to_civil(TimePoint time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return {std::chrono::year_month_day(day), std::chrono::hh_mm_ss<Duration>(time - day)};
}

std::string format_seconds(const CivilTime& civil) {
  std::array<char, 48> text{};
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
      static_cast<int>(civil.date.year()), static_cast<unsigned>(civil.date.month()),
      static_cast<unsigned>(civil.date.day()), static_cast<int>(civil.clock.hours().count()),
      static_cast<int>(civil.clock.minutes().count()),
      static_cast<int>(civil.clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

// The unit at the front of `text` in nanoseconds, removed from it; 0 when there is none.
std::uint64_t take_unit(std::string_view& text) {
  struct Unit {
    std::string_view name;
    std::uint64_t nanos;
  };
  // "ms" must be tried before "m". Both ways to write micro (U+00B5, U+03BC) are Go's.
  static constexpr std::array<Unit, 8> kUnits{{{"ns", 1},
                                               {"us", 1'000},
                                               {"\u00b5s", 1'000},
                                               {"\u03bcs", 1'000},
                                               {"ms", 1'000'000},
                                               {"s", 1'000'000'000},
                                               {"m", 60'000'000'000},
                                               {"h", 3'600'000'000'000}}};
  std::size_t length = 0;
  while (length < text.size() && text[length] != '.' && !is_digit(text[length])) {
    ++length;
  }
  const std::string_view name = text.substr(0, length);
  for (const Unit& unit : kUnits) {
    if (unit.name == name) {
      text.remove_prefix(length);
      return unit.nanos;
    }
  }
  return 0;
}

// "1.5h" at the front of `text`, removed from it; nullopt when malformed or beyond 2^63 ns.
std::optional<std::uint64_t> take_component(std::string_view& text) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  std::uint64_t whole = 0;
  std::size_t digits = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), ++digits) {
    if (whole > kLimit / 10) {
      return std::nullopt;
    }
    whole = whole * 10 + static_cast<std::uint64_t>(text.front() - '0');
  }
  std::uint64_t fraction = 0;
  double scale = 1;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    bool precise = true;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), ++digits) {
      // Digits that no longer fit cannot change a whole nanosecond.
      precise = precise && fraction <= (kLimit - 10) / 10;
      if (precise) {
        fraction = fraction * 10 + static_cast<std::uint64_t>(text.front() - '0');
        scale *= 10;
      }
    }
  }
  if (digits == 0) {
    return std::nullopt;
  }
  const std::uint64_t unit = take_unit(text);
  if (unit == 0 || whole > kLimit / unit) {
    return std::nullopt;
  }
  const std::uint64_t value =
      whole * unit + static_cast<std::uint64_t>(static_cast<double>(fraction) *
                                                (static_cast<double>(unit) / scale));
  if (value > kLimit) {
    return std::nullopt;
  }
  return value;
}

// "1.5" from 1'500'000'000 and a unit of 1'000'000'000, without trailing zeros.
std::string decimal(std::uint64_t value, std::uint64_t unit) {
  std::string text = std::to_string(value / unit);
  std::uint64_t rest = value % unit;
  if (rest == 0) {
    return text;
  }
  text += '.';
  for (; rest != 0; rest %= unit) {
    rest *= 10;
    text += static_cast<char>('0' + rest / unit);
  }
  return text;
}

// "3m10s", or "3m" when the second part is zero.
std::string two_parts(std::int64_t major, char major_unit, std::int64_t minor, char minor_unit) {
  std::string text = std::to_string(major) + major_unit;
  if (minor != 0) {
    text += std::to_string(minor) + minor_unit;
  }
  return text;
}

}  // namespace

std::optional<TimePoint> sum_of(TimePoint time, Duration duration) {
  Duration::rep sum = 0;
  if (__builtin_add_overflow(time.time_since_epoch().count(), duration.count(), &sum)) {
    return std::nullopt;
  }
  return TimePoint(Duration(sum));
}

std::string format_rfc3339(TimePoint time) {
  return format_seconds(to_civil(time)) + "Z";
}

std::string format_rfc3339_micro(TimePoint time) {
  const CivilTime civil = to_civil(time);
  std::array<char, 16> micros{};
  const int size = std::snprintf(micros.data(), micros.size(), ".%06dZ",
                                 static_cast<int>(civil.clock.subseconds().count() / 1000));
  return format_seconds(civil).append(micros.data(), static_cast<std::size_t>(size));
}

std::optional<TimePoint> parse_rfc3339(std::string_view text) {
  Reader reader(text);
  const int year = reader.number(4);
  reader.expect('-');
  const int month = reader.number(2);
  reader.expect('-');
  const int day = reader.number(2);
  reader.expect('T');
  const int hour = reader.number(2);
  reader.expect(':');
  const int minute = reader.number(2);
  reader.expect(':');
  const int second = reader.number(2);
  const std::int64_t nanos = reader.fraction();
  const std::int64_t offset = reader.offset();
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!reader.done() || !date.ok() || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  const std::int64_t seconds =
      std::chrono::sys_days(date).time_since_epoch().count() * std::int64_t{86'400} + hour * 3600 +
      minute * 60 + second - offset;
  // 64-bit nanoseconds reach to 2262; with a time before 1970 differences could overflow.
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / kNanosPerSecond - 1;
  if (seconds > kLimit || seconds < 0) {
    return std::nullopt;
  }
  return TimePoint(Duration(seconds * kNanosPerSecond + nanos));
}

Result<Duration> parse_go_duration(std::string_view text) {
  const auto invalid = [text] {
    return fail(ErrorKind::Invalid, "\"" + std::string(text) +
                                        "\" is not a duration; write for example \"1h30m\", "
                                        "\"45s\" or \"300ms\"");
  };
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    rest.remove_prefix(1);
  }
  if (rest == "0") {
    return Duration::zero();
  }
  if (rest.empty()) {
    return invalid();
  }
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  std::uint64_t total = 0;
  while (!rest.empty()) {
    const auto component = take_component(rest);
    if (!component || *component > kLimit - total) {
      return invalid();
    }
    total += *component;
  }
  if (negative) {
    // Negated as unsigned: the most negative value has no positive counterpart.
    return Duration(static_cast<Duration::rep>(0 - total));
  }
  if (total == kLimit) {
    return invalid();
  }
  return Duration(static_cast<Duration::rep>(total));
}

std::string format_go_duration(Duration duration) {
  const bool negative = duration < Duration::zero();
  const auto count = static_cast<std::uint64_t>(duration.count());
  const std::uint64_t nanos = negative ? 0 - count : count;
  if (nanos == 0) {
    return "0s";
  }
  std::string text = negative ? "-" : "";
  if (nanos < 1'000) {
    return text + std::to_string(nanos) + "ns";
  }
  if (nanos < 1'000'000) {
    return text + decimal(nanos, 1'000) + "\u00b5s";
  }
  if (nanos < 1'000'000'000) {
    return text + decimal(nanos, 1'000'000) + "ms";
  }
  constexpr std::uint64_t kMinute = 60'000'000'000;
  const std::uint64_t minutes = nanos / kMinute;
  if (minutes >= 60) {
    text += std::to_string(minutes / 60) + "h";
  }
  if (minutes > 0) {
    text += std::to_string(minutes % 60) + "m";
  }
  return text + decimal(nanos % kMinute, 1'000'000'000) + "s";
}

std::string format_human_duration(Duration duration) {
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(duration).count();
  if (seconds < 0) {
    // A clock a little ahead of ours is no news; one far ahead is.
    return seconds < -1 ? "<invalid>" : "0s";
  }
  if (seconds < 120) {
    return std::to_string(seconds) + "s";
  }
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) {
    return two_parts(minutes, 'm', seconds % 60, 's');
  }
  const std::int64_t hours = minutes / 60;
  if (hours < 3) {
    return std::to_string(minutes) + "m";
  }
  if (hours < 8) {
    return two_parts(hours, 'h', minutes % 60, 'm');
  }
  if (hours < 48) {
    return std::to_string(hours) + "h";
  }
  const std::int64_t days = hours / 24;
  if (days < 8) {
    return two_parts(days, 'd', hours % 24, 'h');
  }
  if (days < 2 * 365) {
    return std::to_string(days) + "d";
  }
  if (days < 8 * 365) {
    return two_parts(days / 365, 'y', days % 365, 'd');
  }
  return std::to_string(days / 365) + "y";
}

}  // namespace millwright::base
