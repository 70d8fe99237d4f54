// Windows: their text, and when they are open.
#include "millwright/disruption/windows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

base::TimePoint instant(std::string_view text) {
  return base::parse_rfc3339(text).value();
}

std::string open_text(const Windows& windows, std::string_view at,
                      std::optional<Reason> reason = std::nullopt) {
  const auto open = windows.open_at_or_after(instant(at), reason);
  return open ? base::format_rfc3339(open->begin) + " to " + base::format_rfc3339(open->end)
              : "never";
}

TEST(Windows, AreOpenFromTheirScheduleOnForTheirDuration) {
  const auto windows = Windows::parse("0 22 * * mon-fri for 8h in Europe/Berlin").value();
  // 2026-01-08 is a Thursday.
  const std::string thursday = "2026-01-08T21:00:00Z to 2026-01-09T05:00:00Z";
  EXPECT_EQ(open_text(windows, "2026-01-08T12:00:00Z"), thursday);
  EXPECT_EQ(open_text(windows, "2026-01-08T21:00:00Z"), thursday);
  EXPECT_EQ(open_text(windows, "2026-01-09T04:59:59.999999999Z"), thursday);
  const std::string friday = "2026-01-09T21:00:00Z to 2026-01-10T05:00:00Z";
  EXPECT_EQ(open_text(windows, "2026-01-09T05:00:00Z"), friday) << "the end is not in it";
  EXPECT_EQ(open_text(windows, "2026-01-10T05:00:00Z"),
            "2026-01-12T21:00:00Z to 2026-01-13T05:00:00Z");
}

// A duration is real time: the night in which clocks are put forward ends an hour later by them.
TEST(Windows, LastAsLongWhenTheClocksAreChangedMeanwhile) {
  const auto windows = Windows::parse("0 22 * * * for 8h in Europe/Berlin").value();
  EXPECT_EQ(open_text(windows, "2026-03-28T12:00:00Z"),
            "2026-03-28T21:00:00Z to 2026-03-29T05:00:00Z");
  EXPECT_EQ(open_text(windows, "2026-10-24T12:00:00Z"),
            "2026-10-24T20:00:00Z to 2026-10-25T04:00:00Z");
  const auto skipped = Windows::parse("30 2 * * * for 1h in Europe/Berlin").value();
  EXPECT_EQ(open_text(skipped, "2026-03-28T12:00:00Z"),
            "2026-03-29T01:00:00Z to 2026-03-29T02:00:00Z");
  const auto hourly = Windows::parse("0 * * * * for 1h in Europe/Berlin").value();
  for (auto time = instant("2026-10-24T20:00:00Z"); time < instant("2026-10-25T06:00:00Z");
       time += minutes(7)) {
    EXPECT_LE(hourly.open_at_or_after(time)->begin, time) << base::format_rfc3339(time);
  }
}

TEST(Windows, TheOneThatOpenedFirstCountsWhereTheyOverlap) {
  const auto windows =
      Windows::parse("0 10 * * * for 2h; 30 9 * * * for 1h\n0 11 * * * for 30m").value();
  EXPECT_EQ(open_text(windows, "2026-01-08T00:00:00Z"),
            "2026-01-08T09:30:00Z to 2026-01-08T10:30:00Z");
  EXPECT_EQ(open_text(windows, "2026-01-08T10:15:00Z"),
            "2026-01-08T09:30:00Z to 2026-01-08T10:30:00Z");
  EXPECT_EQ(open_text(windows, "2026-01-08T11:15:00Z"),
            "2026-01-08T10:00:00Z to 2026-01-08T12:00:00Z");
  const auto overlapping = Windows::parse("* * * * * for 10m").value();
  EXPECT_EQ(open_text(overlapping, "2026-01-08T12:00:30Z"),
            "2026-01-08T11:51:00Z to 2026-01-08T12:01:00Z");
}

TEST(Windows, MayBeForSomeReasonsOnly) {
  const auto windows =
      Windows::parse("Drifted: 0 10 * * * for 10m; Empty,Drifted: 0 20 * * * for 1h").value();
  EXPECT_TRUE(windows.name_reasons());
  EXPECT_FALSE(windows.concern(Reason::Underutilized));
  EXPECT_TRUE(windows.concern(Reason::Empty));
  EXPECT_EQ(open_text(windows, "2026-01-08T09:00:00Z", Reason::Drifted),
            "2026-01-08T10:00:00Z to 2026-01-08T10:10:00Z");
  EXPECT_EQ(open_text(windows, "2026-01-08T09:00:00Z", Reason::Empty),
            "2026-01-08T20:00:00Z to 2026-01-08T21:00:00Z");
  const auto general = Windows::parse("@daily for 1h; Drifted: 0 10 * * * for 10m").value();
  EXPECT_TRUE(general.concern(Reason::Underutilized));
  EXPECT_EQ(open_text(general, "2026-01-08T09:00:00Z", Reason::Drifted),
            "2026-01-08T10:00:00Z to 2026-01-08T10:10:00Z");
  EXPECT_EQ(open_text(general, "2026-01-08T09:00:00Z", Reason::Empty),
            "2026-01-09T00:00:00Z to 2026-01-09T01:00:00Z");
}

TEST(Windows, AreReadHoweverTheyAreSpaced) {
  const auto windows =
      Windows::parse("\n  0 22  * * *\tfor 8h ; \r\n@hourly for 1m in UTC;\n").value();
  EXPECT_EQ(open_text(windows, "2026-01-08T12:30:00Z"),
            "2026-01-08T13:00:00Z to 2026-01-08T13:01:00Z");
  EXPECT_EQ(open_text(windows, "2026-01-08T22:30:00Z"),
            "2026-01-08T22:00:00Z to 2026-01-09T06:00:00Z");
  EXPECT_FALSE(windows.name_reasons());
}

TEST(Windows, ThatNeverOpenAreNeverOpen) {
  const auto windows = Windows::parse("0 0 30 2 * for 1h").value();
  EXPECT_EQ(open_text(windows, "2026-01-08T12:00:00Z"), "never");
}

TEST(Windows, SayWhichIsWrongAndWhy) {
  const struct {
    std::string text;
    std::vector<std::string> says;
  } cases[] = {
      {"", {"there is none"}},
      {" ; \n ;", {"there is none"}},
      {"0 22 * * *", {"\"0 22 * * *\"", "SCHEDULE for DURATION in TIME/ZONE"}},
      {"for 8h", {"SCHEDULE for DURATION"}},
      {"0 22 * * * for", {"SCHEDULE for DURATION"}},
      {"0 22 * * * for 8h Europe/Berlin", {"SCHEDULE for DURATION"}},
      {"0 22 * * * for 8h at Europe/Berlin", {"SCHEDULE for DURATION"}},
      {"0 22 * * * for 8h in", {"SCHEDULE for DURATION"}},
      {"0 22 * * * for 8h in Europe/Berlin please", {"SCHEDULE for DURATION"}},
      {"0 25 * * * for 8h", {"\"0 25 * * * for 8h\"", "hour \"25\""}},
      {"@noon for 8h", {"@noon"}},
      {"0 22 * * * for 8", {"\"8\" is not a duration"}},
      {"0 22 * * * for 0s", {"open for some time"}},
      {"0 22 * * * for -1h", {"open for some time"}},
      {"0 22 * * * for 8785h", {"a year at most"}},
      {"0 22 * * * for 8h in Berlin", {"\"Berlin\" is no time zone"}},
      {"@daily for 1h; 0 22 * * * for 8h in ../../etc/passwd", {"\"../../etc/passwd\" is no"}},
      {"Expired: 0 22 * * * for 8h",
       {"\"Expired\" is no reason", "Empty, Drifted and Underutilized"}},
      {": 0 22 * * * for 8h", {"no reason before the colon"}},
      {"Drifted:", {"SCHEDULE for DURATION"}},
      {"0 22 * * " + std::string(200, '1') + " for 8h", {"longer than 200 bytes"}},
  };
  for (const auto& test : cases) {
    const auto windows = Windows::parse(test.text);
    ASSERT_FALSE(windows) << test.text;
    EXPECT_EQ(windows.error().kind, base::ErrorKind::Invalid);
    for (const auto& part : test.says) {
      EXPECT_THAT(windows.error().message, HasSubstr(part)) << test.text;
    }
  }
}

TEST(Windows, AreAtMostFifty) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += "@daily for 1h;";
  }
  EXPECT_TRUE(Windows::parse(text));
  EXPECT_FALSE(Windows::parse(text + "@daily for 1h"));
}

TEST(Windows, AreLookedForAtTheEdgesOfTime) {
  const auto windows = Windows::parse("@daily for 8784h in America/New_York").value();
  EXPECT_FALSE(windows.open_at_or_after(base::TimePoint::max()));
  windows.open_at_or_after(base::TimePoint::min() + hours(24 * 366) + nanoseconds(1));
}

}  // namespace
}  // namespace millwright::disruption
