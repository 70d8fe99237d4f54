#include "millwright/base/cron.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace millwright::base {
namespace {

using namespace std::chrono_literals;

TimePoint at(std::string_view text) {
  return parse_rfc3339(text).value();
}

struct Activation {
  const char* schedule;
  const char* after;
  const char* next;  // nullptr: never
};

class CronNext : public testing::TestWithParam<Activation> {};
TEST_P(CronNext, IsTheFirstActivationStrictlyAfter) {
  const auto schedule = CronSchedule::parse(GetParam().schedule);
  ASSERT_TRUE(schedule) << schedule.error().message;
  const auto next = schedule->next(at(GetParam().after));
  if (GetParam().next == nullptr) {
    EXPECT_EQ(next, std::nullopt) << format_rfc3339(*next);
    return;
  }
  ASSERT_TRUE(next) << GetParam().schedule;
  EXPECT_EQ(format_rfc3339(*next), GetParam().next) << GetParam().schedule;
}
INSTANTIATE_TEST_SUITE_P(
    Simple, CronNext,
    testing::Values(
        Activation{"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
        Activation{"* * * * *", "2026-01-01T00:00:59.999Z", "2026-01-01T00:01:00Z"},
        Activation{"0/15 * * * *", "2026-07-09T14:45:00Z", "2026-07-09T15:00:00Z"},
        Activation{"5/15 * * * *", "2026-07-09T14:50:00Z", "2026-07-09T15:05:00Z"},
        Activation{"20-35/15 * * * *", "2026-07-09T14:45:00Z", "2026-07-09T15:20:00Z"},
        Activation{"15/35 20-23/2 * * *", "2026-07-09T20:55:00Z", "2026-07-09T22:15:00Z"},
        Activation{"? ? ? ? ?", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
        Activation{"0 9 * * mon-fri", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z"},
        Activation{"0 9 * * MON-Fri", "2026-01-04T09:00:00Z", "2026-01-05T09:00:00Z"},
        Activation{"0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"},
        Activation{"0 0 29 Feb ?", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
        Activation{"59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"},
        Activation{"0 0 30 2 *", "2026-01-01T00:00:00Z", nullptr},
        Activation{" 0\t0  1 jan,jul * ", "2026-02-01T00:00:00Z", "2026-07-01T00:00:00Z"},
        Activation{"1,,2 +3 * * *", "2026-01-01T03:01:00Z", "2026-01-01T03:02:00Z"}));
INSTANTIATE_TEST_SUITE_P(
    BothDayFieldsRestricted, CronNext,
    testing::Values(
        // 2026-03-01 is a Sunday: either the 15th or a Monday.
        Activation{"0 0 15 * mon", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
        Activation{"0 0 15 * mon", "2026-03-10T00:00:00Z", "2026-03-15T00:00:00Z"},
        // A star leaves the choice to the other field ...
        Activation{"0 0 * * mon", "2026-03-02T00:00:00Z", "2026-03-09T00:00:00Z"},
        Activation{"0 0 15 * *", "2026-03-02T00:00:00Z", "2026-03-15T00:00:00Z"},
        Activation{"0 0 */1 * mon", "2026-03-02T00:00:00Z", "2026-03-09T00:00:00Z"},
        // ... but a stepped star restricts: odd days or Mondays.
        Activation{"0 0 */2 * mon", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
        Activation{"0 0 */2 * mon", "2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z"}));
INSTANTIATE_TEST_SUITE_P(
    Macros, CronNext,
    testing::Values(Activation{"@hourly", "2026-05-06T07:08:09Z", "2026-05-06T08:00:00Z"},
                    Activation{"@daily", "2026-05-06T07:08:09Z", "2026-05-07T00:00:00Z"},
                    Activation{"@midnight", "2026-05-06T00:00:00Z", "2026-05-07T00:00:00Z"},
                    Activation{" @weekly", "2026-05-06T07:08:09Z", "2026-05-10T00:00:00Z"},
                    Activation{"@monthly", "2026-05-06T07:08:09Z", "2026-06-01T00:00:00Z"},
                    Activation{"@yearly", "2026-05-06T07:08:09Z", "2027-01-01T00:00:00Z"},
                    Activation{"@annually", "2026-05-06T07:08:09Z", "2027-01-01T00:00:00Z"}));

struct BadSchedule {
  const char* schedule;
  const char* named;  // what the message must name
};
class BadCron : public testing::TestWithParam<BadSchedule> {};
TEST_P(BadCron, IsInvalidAndTheMessageNamesWhy) {
  const auto schedule = CronSchedule::parse(GetParam().schedule);
  ASSERT_FALSE(schedule) << GetParam().schedule;
  EXPECT_EQ(schedule.error().kind, ErrorKind::Invalid);
  EXPECT_NE(schedule.error().message.find(GetParam().named), std::string::npos)
      << schedule.error().message;
}
INSTANTIATE_TEST_SUITE_P(
    Schedules, BadCron,
    testing::Values(BadSchedule{"", "five"}, BadSchedule{"* * * *", "4 fields"},
                    BadSchedule{"* * * * * *", "6 fields"}, BadSchedule{"@every 1h", "five"},
                    BadSchedule{"@every", "@hourly"}, BadSchedule{"@Daily", "@daily"},
                    BadSchedule{"TZ=UTC 0 0 * * *", "6 fields"},
                    BadSchedule{"60 * * * *", "minute"}, BadSchedule{"* 24 * * *", "hour"},
                    BadSchedule{"* * 0 * *", "day of month"},
                    BadSchedule{"* * 32 * *", "day of month"}, BadSchedule{"* * * 13 *", "month"},
                    BadSchedule{"* * * 0 *", "month"}, BadSchedule{"* * * * 7", "day of week"},
                    BadSchedule{"5-1 * * * *", "minute"}, BadSchedule{"1-2-3 * * * *", "minute"},
                    BadSchedule{"1/2/3 * * * *", "minute"}, BadSchedule{"*/0 * * * *", "minute"},
                    BadSchedule{"*/x * * * *", "minute"}, BadSchedule{", * * * *", "minute"},
                    BadSchedule{"-1 * * * *", "minute"}, BadSchedule{"1- * * * *", "minute"},
                    BadSchedule{"mon * * * *", "minute"}, BadSchedule{"* * * * jan", "day of week"},
                    BadSchedule{"99999999999999999999 * * * *", "minute"}));

TEST(CronSchedule, EndsWithTheRangeOfTimePoint) {
  const auto schedule = CronSchedule::parse("* * * * *").value();
  EXPECT_EQ(schedule.next(TimePoint::max()), std::nullopt);
  EXPECT_TRUE(schedule.next(TimePoint::min()));
}

TEST(CronSchedule, AcceptsAStepLargerThanTheField) {
  const auto schedule = CronSchedule::parse("3/2147483647 * * * *").value();
  EXPECT_EQ(schedule.next(at("2026-01-01T00:00:00Z")), at("2026-01-01T00:03:00Z"));
}

// One item of a field, as text and as the values it stands for.
struct Item {
  std::string text;
  std::vector<int> values;
  bool is_star = false;
};

Item random_item(int low, int high) {
  const int kind = *rc::gen::inRange(0, 5);
  const int start = *rc::gen::inRange(low, high + 1);
  const int end = *rc::gen::inRange(start, high + 1);
  const int step = *rc::gen::inRange(1, 20);
  Item item;
  int from = low;
  int to = high;
  int by = 1;
  switch (kind) {
    case 0:
      item = {.text = "*", .is_star = true};
      break;
    case 1:
      item = {.text = "*/" + std::to_string(step), .is_star = step == 1};
      by = step;
      break;
    case 2:
      item.text = std::to_string(start);
      from = to = start;
      break;
    case 3:
      item.text = std::to_string(start) + "-" + std::to_string(end);
      from = start;
      to = end;
      break;
    default:
      item.text = std::to_string(start) + "/" + std::to_string(step);
      from = start;
      by = step;
      break;
  }
  for (int value = from; value <= to; value += by) {
    item.values.push_back(value);
  }
  return item;
}

struct RandomField {
  std::string text;
  std::array<bool, 60> allowed{};
  bool is_star = false;
};

RandomField random_field(int low, int high) {
  RandomField field;
  const int items = *rc::gen::inRange(1, 3);
  for (int i = 0; i < items; ++i) {
    const Item item = random_item(low, high);
    field.text += (i == 0 ? "" : ",") + item.text;
    field.is_star = field.is_star || item.is_star;
    for (const int value : item.values) {
      field.allowed[static_cast<std::size_t>(value)] = true;
    }
  }
  return field;
}

RC_GTEST_PROP(CronSchedule, FindsWhatTryingEveryMinuteFinds, ()) {
  const RandomField minute = random_field(0, 59);
  const RandomField hour = random_field(0, 23);
  const RandomField day = random_field(1, 31);
  const RandomField month = random_field(1, 12);
  const RandomField weekday = random_field(0, 6);
  const std::string text =
      minute.text + " " + hour.text + " " + day.text + " " + month.text + " " + weekday.text;
  const auto schedule = CronSchedule::parse(text);
  RC_ASSERT(schedule.has_value());
  const TimePoint start =
      at("2027-11-20T00:00:00Z") + std::chrono::seconds(*rc::gen::inRange(0, 40'000'000));

  constexpr int kMinutes = 60 * 24 * 120;
  TimePoint time = std::chrono::floor<std::chrono::minutes>(start);
  bool found = false;
  for (int i = 0; i < kMinutes && !found; ++i) {
    time += 1min;
    const auto midnight = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(midnight);
    const auto clock = std::chrono::floor<std::chrono::minutes>(time - midnight).count();
    const bool day_fits = day.allowed[static_cast<unsigned>(date.day())];
    const bool weekday_fits = weekday.allowed[std::chrono::weekday(midnight).c_encoding()];
    const bool either = !day.is_star && !weekday.is_star;
    found = minute.allowed[static_cast<std::size_t>(clock % 60)] &&
            hour.allowed[static_cast<std::size_t>(clock / 60)] &&
            month.allowed[static_cast<unsigned>(date.month())] &&
            (either ? day_fits || weekday_fits : day_fits && weekday_fits);
  }
  const auto next = schedule->next(start);
  if (found) {
    RC_ASSERT(next.has_value());
    RC_ASSERT(*next == time);
  } else {
    RC_ASSERT(!next.has_value() || *next > time);
  }
}

RC_GTEST_PROP(CronSchedule, ArbitraryTextNeverCrashesTheParser, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("0123456789*/-, ?@jansumofri")));
  const auto schedule = CronSchedule::parse(text);
  if (schedule) {
    schedule->next(TimePoint());
  }
}

TEST(CronLast, IsWhatSteppingFromActivationToActivationComesTo) {
  const TimePoint to = at("2026-03-29T23:17:31Z");
  for (const char* text : {"* * * * *", "* 0-11 * * *", "*/7 3 * * *", "0 9 * * mon-fri",
                           "30 4 1,15 * *", "17 23 * * *", "18 23 * * *", "0 0 30 2 *"}) {
    const auto schedule = CronSchedule::parse(text);
    ASSERT_TRUE(schedule) << text;
    for (const Duration window : {Duration(30s), Duration(1min), Duration(61s), Duration(5h),
                                  Duration(50h), Duration(900h)}) {
      std::optional<TimePoint> stepped;
      for (auto each = schedule->next(to - window); each && *each <= to;
           each = schedule->next(*each)) {
        stepped = each;
      }
      EXPECT_EQ(schedule->last(to - window, to), stepped) << text;
    }
  }
}

// Eleven years of minutes: millions of steps.
TEST(CronLast, OfALongWindowIsFoundAsFast) {
  const auto schedule = CronSchedule::parse("* * * * *");
  const TimePoint to = at("2026-03-29T23:17:31Z");
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(schedule->last(to - 99'999h, to), at("2026-03-29T23:17:00Z"));
  }
}

}  // namespace
}  // namespace millwright::base
