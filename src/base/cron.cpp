#include "millwright/base/cron.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace millwright::base {
namespace {

struct Field {
  std::string_view name;
  int low;
  int high;
  std::span<const std::string_view> words;  // words[0] means `low`
};

constexpr std::array<std::string_view, 12> kMonthWords{"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kDayWords{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};
const std::array<Field, 5> kFields{{{"minute", 0, 59, {}},
                                    {"hour", 0, 23, {}},
                                    {"day of month", 1, 31, {}},
                                    {"month", 1, 12, kMonthWords},
                                    {"day of week", 0, 6, kDayWords}}};

// What one field allows. `any` is true for a plain "*" or "?", which leaves the choice of days to
// the other day field; a stepped star such as "*/2" restricts.
struct FieldValues {
  std::uint64_t bits = 0;
  bool any = false;
};

bool is_field_separator(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::vector<std::string_view> split_spaces(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t i = 0;
  while (i < text.size()) {
    if (is_field_separator(text[i])) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < text.size() && !is_field_separator(text[i])) {
      ++i;
    }
    parts.push_back(text.substr(start, i - start));
  }
  return parts;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator, start)) {
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::optional<int> parse_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) {
      return false;
    }
  }
  return true;
}

std::optional<int> parse_value(const Field& field, std::string_view text) {
  for (std::size_t i = 0; i < field.words.size(); ++i) {
    if (equals_ignoring_case(text, field.words[i])) {
      return field.low + static_cast<int>(i);
    }
  }
  return parse_number(text);
}

tl::unexpected<Error> field_error(const Field& field, std::string_view text,
                                  std::string_view problem) {
  std::string message = "cron schedule: ";
  message.append(field.name).append(" \"").append(text).append("\" ").append(problem);
  message +=
      "; give values from " + std::to_string(field.low) + " to " + std::to_string(field.high);
  if (!field.words.empty()) {
    message.append(" or names such as ").append(field.words[1]);
  }
  return fail(ErrorKind::Invalid, message + ", as *, 5, 1-5, */10 or a comma-separated list");
}

// One item of a comma-separated list: value, range, star, any of them with "/step".
Result<FieldValues> parse_item(const Field& field, std::string_view text) {
  const auto range_and_step = split(text, '/');
  const auto bounds = split(range_and_step[0], '-');
  if (range_and_step.size() > 2 || bounds.size() > 2) {
    return field_error(field, text, "has more than one / or -");
  }
  FieldValues values;
  int start = field.low;
  int end = field.high;
  if (bounds[0] == "*" || bounds[0] == "?") {
    values.any = true;
  } else {
    const auto first = parse_value(field, bounds[0]);
    const auto last = bounds.size() == 2 ? parse_value(field, bounds[1]) : first;
    if (!first || !last) {
      return field_error(field, text, "is not a number, name or range");
    }
    start = *first;
    end = *last;
  }
  int step = 1;
  if (range_and_step.size() == 2) {
    const auto given = parse_number(range_and_step[1]);
    if (!given || *given == 0) {
      return field_error(field, text, "has a step that is not a positive number");
    }
    step = *given;
    if (bounds.size() == 1) {
      end = field.high;  // "5/10" counts from 5 to the end
    }
    values.any = values.any && step == 1;
  }
  if (start < field.low || end > field.high) {
    return field_error(field, text, "is out of range");
  }
  if (start > end) {
    return field_error(field, text, "begins after its end");
  }
  // Counted in 64 bits: a step may be as large as int holds.
  for (std::int64_t value = start; value <= end; value += step) {
    values.bits |= std::uint64_t{1} << value;
  }
  return values;
}

Result<FieldValues> parse_field(const Field& field, std::string_view text) {
  FieldValues values;
  for (const std::string_view item : split(text, ',')) {
    if (item.empty()) {
      continue;  // robfig skips empty items: "1,,2"
    }
    MW_TRY(parsed, parse_item(field, item));
    values.bits |= parsed.bits;
    values.any = values.any || parsed.any;
  }
  if (values.bits == 0) {
    return field_error(field, text, "names no value");
  }
  return values;
}

std::optional<std::string_view> expand_macro(std::string_view macro) {
  struct Macro {
    std::string_view name;
    std::string_view fields;
  };
  static constexpr std::array<Macro, 7> kMacros{{{"@yearly", "0 0 1 1 *"},
                                                 {"@annually", "0 0 1 1 *"},
                                                 {"@monthly", "0 0 1 * *"},
                                                 {"@weekly", "0 0 * * 0"},
                                                 {"@daily", "0 0 * * *"},
                                                 {"@midnight", "0 0 * * *"},
                                                 {"@hourly", "0 * * * *"}}};
  for (const Macro& known : kMacros) {
    if (known.name == macro) {
      return known.fields;
    }
  }
  return std::nullopt;
}

template <std::size_t N>
std::optional<int> first_from(const std::bitset<N>& bits, int start) {
  for (auto i = static_cast<std::size_t>(start); i < N; ++i) {
    if (bits[i]) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
  auto parts = split_spaces(text);
  if (parts.size() == 1 && parts[0].starts_with('@')) {
    const auto fields = expand_macro(parts[0]);
    if (!fields) {
      return fail(ErrorKind::Invalid,
                  "cron schedule \"" + std::string(parts[0]) +
                      "\" is unknown; use @yearly, @annually, @monthly, @weekly, @daily, "
                      "@midnight, @hourly or five fields");
    }
    parts = split_spaces(*fields);
  }
  if (parts.size() != kFields.size()) {
    return fail(ErrorKind::Invalid,
                "cron schedule \"" + std::string(text) + "\" has " + std::to_string(parts.size()) +
                    " fields; give five: minute, hour, day of month, month, day of week");
  }
  std::array<FieldValues, 5> values;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    MW_TRY(parsed, parse_field(kFields[i], parts[i]));
    values[i] = parsed;
  }
  CronSchedule schedule;
  schedule.minutes_ = values[0].bits;
  schedule.hours_ = values[1].bits;
  schedule.days_of_month_ = values[2].bits;
  schedule.months_ = values[3].bits;
  schedule.days_of_week_ = values[4].bits;
  schedule.any_day_of_month_ = values[2].any;
  schedule.any_day_of_week_ = values[4].any;
  return schedule;
}

std::optional<TimePoint> CronSchedule::next(TimePoint time) const {
  using std::chrono::days;
  using std::chrono::minutes;
  // Nanoseconds end in April 2262; stopping before keeps every step below from overflowing.
  constexpr std::chrono::sys_days kEnd(std::chrono::year(2262) / 1 / 1);
  if (time >= kEnd) {
    return std::nullopt;
  }
  const auto from = std::chrono::floor<minutes>(time) + minutes(1);
  auto day = std::chrono::floor<days>(from);
  const auto since_midnight = std::chrono::hh_mm_ss(from - day);
  auto hour = static_cast<int>(since_midnight.hours().count());
  auto minute = static_cast<int>(since_midnight.minutes().count());
  const auto last_year = std::chrono::year_month_day(day).year() + std::chrono::years(5);
  for (;; day += days(1), hour = 0, minute = 0) {
    const std::chrono::year_month_day date(day);
    if (date.year() > last_year || day >= kEnd) {
      return std::nullopt;
    }
    const bool day_of_month = days_of_month_[static_cast<unsigned>(date.day())];
    const bool day_of_week = days_of_week_[std::chrono::weekday(day).c_encoding()];
    // When one day field is a star the other decides; when both restrict, either may match.
    const bool day_matches = any_day_of_month_ || any_day_of_week_ ? day_of_month && day_of_week
                                                                   : day_of_month || day_of_week;
    if (!months_[static_cast<unsigned>(date.month())] || !day_matches) {
      continue;
    }
    while (true) {
      const auto match = first_from(hours_, hour);
      if (!match) {
        break;
      }
      const int matching_hour = *match;
      if (matching_hour != hour) {
        minute = 0;
      }
      if (const auto match_minute = first_from(minutes_, minute)) {
        return day + std::chrono::hours(matching_hour) + minutes(*match_minute);
      }
      hour = matching_hour + 1;
      minute = 0;
    }
  }
}

// next(t) is no later than `to` exactly for the times before the last activation, so halving finds
// it: a step for each activation would be millions for a long window.
std::optional<TimePoint> CronSchedule::last(TimePoint from, TimePoint to) const {
  auto found = next(from);
  if (!found || *found > to) {
    return std::nullopt;
  }
  TimePoint none_after = to;
  while (none_after - *found >= std::chrono::minutes(1)) {
    const TimePoint middle = *found + (none_after - *found) / 2;
    const auto later = next(middle);
    if (later && *later <= to) {
      found = later;
    } else {
      none_after = middle;
    }
  }
  return found;
}

}  // namespace millwright::base
