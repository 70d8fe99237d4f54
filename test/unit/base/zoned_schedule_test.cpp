// Time zones, and cron schedules on their clocks. The rules of the zones in these tests have not
// changed for years, and times that are past do not change.
#include "millwright/base/zoned_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millwright::base {
namespace {

using namespace std::chrono_literals;

TimePoint instant(std::string_view text) {
  return parse_rfc3339(text).value();
}

TEST(TimeZone, IsFoundByTheNameThatTheDatabaseGivesIt) {
  for (const char* name : {"UTC", "Etc/UTC", "Europe/Berlin", "America/Port-au-Prince",
                           "America/Argentina/Buenos_Aires", "Etc/GMT+5"}) {
    EXPECT_TRUE(TimeZone::find(name)) << name;
  }
}

TEST(TimeZone, NothingElseIsOneAndTheMessageSaysWhatWouldBe) {
  for (const char* name :
       {"", "Berlin", "Europe/Bonn", "europe/berlin", "Europe", "Europe/", "+01:00", "Local",
        "localtime", "right/Europe/Berlin", "/usr/share/zoneinfo/UTC", "../zoneinfo/UTC",
        "/dev/zero", "file:/etc/passwd", "Fixed/UTC+01:00:00", "Europe/Berlin "}) {
    const auto zone = TimeZone::find(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_EQ(zone.error().kind, ErrorKind::Invalid);
    EXPECT_NE(zone.error().message.find("Europe/Berlin, Asia/Shanghai or UTC"), std::string::npos)
        << zone.error().message;
  }
  EXPECT_FALSE(TimeZone::find("A" + std::string(100'000, 'a')));
}

TEST(TimeZone, HasPeriodsWithoutAChangeOfItsClocks) {
  const auto berlin = TimeZone::find("Europe/Berlin").value();
  const auto winter = berlin.period_at(instant("2026-01-15T12:00:00Z"));
  EXPECT_EQ(winter.offset, 1h);
  EXPECT_EQ(winter.end, instant("2026-03-29T01:00:00Z"));
  const auto summer = berlin.period_at(*winter.end);
  EXPECT_EQ(summer.offset, 2h);
  EXPECT_EQ(summer.end, instant("2026-10-25T01:00:00Z"));
  EXPECT_EQ(berlin.period_at(*summer.end - 1ns).offset, 2h);
  EXPECT_EQ(berlin.period_at(instant("2060-07-01T00:00:00Z")).offset, 2h) << "beyond every table";

  const auto kolkata = TimeZone::find("Asia/Kolkata").value();
  EXPECT_EQ(kolkata.period_at(instant("2026-01-15T12:00:00Z")).offset, 5h + 30min);
  EXPECT_EQ(kolkata.period_at(instant("2026-01-15T12:00:00Z")).end, std::nullopt);
  for (const TimePoint edge : {TimePoint::min(), TimePoint::max()}) {
    EXPECT_EQ(TimeZone::find("UTC")->period_at(edge).offset, 0s);
    berlin.period_at(edge);  // does not overflow
  }
}

struct ZonedActivation {
  const char* schedule;
  const char* zone;
  const char* after;
  std::vector<const char*> next;  // one after the other
};

class ZonedNext : public testing::TestWithParam<ZonedActivation> {};
TEST_P(ZonedNext, IsByTheClocksOfTheZone) {
  const ZonedSchedule schedule(CronSchedule::parse(GetParam().schedule).value(),
                               TimeZone::find(GetParam().zone).value());
  TimePoint time = instant(GetParam().after);
  for (const char* expected : GetParam().next) {
    const auto next = schedule.next(time);
    ASSERT_TRUE(next);
    EXPECT_EQ(format_rfc3339(*next), expected) << GetParam().schedule << " " << GetParam().zone;
    time = *next;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Offsets, ZonedNext,
    testing::Values(
        ZonedActivation{"0 22 * * *", "UTC", "2026-01-01T00:00:00Z", {"2026-01-01T22:00:00Z"}},
        ZonedActivation{
            "0 22 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", {"2026-01-01T21:00:00Z"}},
        ZonedActivation{
            "0 22 * * *", "Europe/Berlin", "2026-07-01T00:00:00Z", {"2026-07-01T20:00:00Z"}},
        // Monday by the zone's clocks: in Auckland it begins on Sunday, in Los Angeles later.
        ZonedActivation{
            "0 0 * * mon", "Pacific/Auckland", "2026-07-01T00:00:00Z", {"2026-07-05T12:00:00Z"}},
        ZonedActivation{
            "0 0 * * mon", "America/Los_Angeles", "2026-07-01T00:00:00Z", {"2026-07-06T07:00:00Z"}},
        ZonedActivation{"0 0 * * *",
                        "Asia/Kolkata",
                        "2026-01-01T00:00:00Z",
                        {"2026-01-01T18:30:00Z", "2026-01-02T18:30:00Z"}}));
INSTANTIATE_TEST_SUITE_P(
    PutForward, ZonedNext,
    testing::Values(
        // 02:30 is left out on 29 March: it comes when the clocks show 03:00 instead of 02:00.
        ZonedActivation{"30 2 * * *",
                        "Europe/Berlin",
                        "2026-03-28T00:00:00Z",
                        {"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
        ZonedActivation{"0 2 * * *",
                        "Europe/Berlin",
                        "2026-03-28T12:00:00Z",
                        {"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"}},
        ZonedActivation{"0 3 * * *",
                        "Europe/Berlin",
                        "2026-03-28T12:00:00Z",
                        {"2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"}},
        ZonedActivation{"*/30 * * * *",
                        "Europe/Berlin",
                        "2026-03-29T00:29:00Z",
                        {"2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}},
        ZonedActivation{"30 2 * * *",
                        "America/New_York",
                        "2026-03-07T12:00:00Z",
                        {"2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"}},
        // Half an hour.
        ZonedActivation{"15 2 * * *",
                        "Australia/Lord_Howe",
                        "2026-10-03T00:00:00Z",
                        {"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
        // A whole day: Samoa had no 30 December 2011.
        ZonedActivation{"0 12 30 12 *",
                        "Pacific/Apia",
                        "2011-06-01T00:00:00Z",
                        {"2011-12-30T10:00:00Z", "2012-12-29T22:00:00Z"}}));
INSTANTIATE_TEST_SUITE_P(
    PutBack, ZonedNext,
    testing::Values(
        // 02:30 comes twice on 25 October.
        ZonedActivation{"30 2 * * *",
                        "Europe/Berlin",
                        "2026-10-24T12:00:00Z",
                        {"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"}},
        ZonedActivation{"0 2 * * *",
                        "Europe/Berlin",
                        "2026-10-24T12:00:00Z",
                        {"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-26T01:00:00Z"}},
        ZonedActivation{"0 3 * * *",
                        "Europe/Berlin",
                        "2026-10-24T12:00:00Z",
                        {"2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z"}},
        ZonedActivation{"0 * * * *",
                        "Europe/Berlin",
                        "2026-10-24T23:30:00Z",
                        {"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"}},
        ZonedActivation{"45 1 * * *",
                        "Australia/Lord_Howe",
                        "2026-04-04T00:00:00Z",
                        {"2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z", "2026-04-05T15:15:00Z"}}));

// Minute by minute, as somebody who looks at a clock on the wall would see it.
TEST(ZonedSchedule, NamesEachMinuteThatTheClocksShowOrJumpOver) {
  const auto matches = [](const CronSchedule& schedule, TimePoint from, TimePoint to) {
    const auto next = schedule.next(from - 1ns);
    return next && *next <= to;
  };
  for (const char* name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}) {
    const auto zone = TimeZone::find(name).value();
    auto change = zone.period_at(instant("2026-01-01T00:00:00Z")).end;
    for (int i = 0; i < 2 && change; change = zone.period_at(*change).end, ++i) {
      for (const char* text : {"* * * * *", "30 2 * * *", "*/20 1-3 * * sun", "0 0-3 * * *"}) {
        const auto plain = CronSchedule::parse(text).value();
        const ZonedSchedule schedule(plain, zone);
        for (TimePoint minute = *change - 3h; minute <= *change + 3h; minute += 1min) {
          const Duration offset = zone.period_at(minute).offset;
          const Duration before = zone.period_at(minute - 1ns).offset;
          const bool expected = matches(plain, minute + std::min(before, offset), minute + offset);
          EXPECT_EQ(schedule.next(minute - 1ns) == minute, expected)
              << name << " " << text << " " << format_rfc3339(minute);
        }
      }
    }
  }
}

TEST(ZonedSchedule, EndsWithTheRangeOfTimePoint) {
  const ZonedSchedule schedule(CronSchedule::parse("* * * * *").value(),
                               TimeZone::find("America/New_York").value());
  EXPECT_EQ(schedule.next(TimePoint::max()), std::nullopt);
  EXPECT_EQ(schedule.next(TimePoint::min()), std::nullopt) << "west of UTC it is before all time";
}

TEST(ZonedSchedule, HasNoTimeWhenItsDayNeverComes) {
  const ZonedSchedule schedule(CronSchedule::parse("0 0 30 2 *").value(),
                               TimeZone::find("Europe/Berlin").value());
  EXPECT_EQ(schedule.next(instant("2026-01-01T00:00:00Z")), std::nullopt);
}

}  // namespace
}  // namespace millwright::base
