#include "millwright/base/time.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

namespace millwright::base {
namespace {

using namespace std::chrono_literals;

TimePoint utc(int year, unsigned month, unsigned day, Duration clock = 0ns) {
  return std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) /
                               std::chrono::day(day)) +
         clock;
}

TEST(Rfc3339, IsWrittenInWholeSecondsOfUtc) {
  EXPECT_EQ(format_rfc3339(utc(2026, 1, 2, 3h + 4min + 5s)), "2026-01-02T03:04:05Z");
  EXPECT_EQ(format_rfc3339(utc(2026, 1, 2, 999'999'999ns)), "2026-01-02T00:00:00Z");
  EXPECT_EQ(format_rfc3339(TimePoint()), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_rfc3339(TimePoint(-1ns)), "1969-12-31T23:59:59Z");
}

TEST(Rfc3339, MicroTimeAlwaysHasSixDigits) {
  EXPECT_EQ(format_rfc3339_micro(utc(2026, 1, 2, 3h + 6us)), "2026-01-02T03:00:00.000006Z");
  EXPECT_EQ(format_rfc3339_micro(utc(2026, 1, 2)), "2026-01-02T00:00:00.000000Z");
  EXPECT_EQ(format_rfc3339_micro(TimePoint(-1ns)), "1969-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, ReadsFractionsAndOffsets) {
  const TimePoint noon = utc(2026, 3, 1, 12h);
  EXPECT_EQ(parse_rfc3339("2026-03-01T12:00:00Z"), noon);
  EXPECT_EQ(parse_rfc3339("2026-03-01T12:00:00.5Z"), noon + 500ms);
  EXPECT_EQ(parse_rfc3339("2026-03-01T12:00:00.123456789Z"), noon + 123'456'789ns);
  EXPECT_EQ(parse_rfc3339("2026-03-01T12:00:00.1234567899Z"), noon + 123'456'789ns);
  EXPECT_EQ(parse_rfc3339("2026-03-01T14:00:00+02:00"), noon);
  EXPECT_EQ(parse_rfc3339("2026-02-28T23:30:00-12:30"), noon);
  EXPECT_EQ(parse_rfc3339("2024-02-29T00:00:00Z"), utc(2024, 2, 29));
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00Z"), TimePoint());
}

TEST(TimePoints, AreAddedToUnlessTheSumIsBeyondThem) {
  const TimePoint now = utc(2026, 1, 1);
  EXPECT_EQ(sum_of(now, 1h), now + 1h);
  EXPECT_EQ(sum_of(now, -1h), now - 1h);
  EXPECT_EQ(sum_of(TimePoint::max() - 1ns, 1ns), TimePoint::max());
  EXPECT_EQ(sum_of(TimePoint::max(), 1ns), std::nullopt);
  EXPECT_EQ(sum_of(TimePoint::min(), -1ns), std::nullopt);
  EXPECT_EQ(sum_of(now, *parse_go_duration("2562047h")), std::nullopt);
}

class NotRfc3339 : public testing::TestWithParam<const char*> {};
TEST_P(NotRfc3339, IsRefused) {
  EXPECT_EQ(parse_rfc3339(GetParam()), std::nullopt);
}
INSTANTIATE_TEST_SUITE_P(
    Texts, NotRfc3339,
    testing::Values("", "2026", "2026-03-01", "2026-03-01T12:00:00", "2026-03-01 12:00:00Z",
                    "2026-3-1T12:00:00Z", "2026-13-01T12:00:00Z", "2026-02-29T12:00:00Z",
                    "2026-03-00T12:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T12:60:00Z",
                    "2026-03-01T12:00:60Z", "2026-03-01T12:00:00.Z", "2026-03-01T12:00:00+0200",
                    "2026-03-01T12:00:00+24:00", "2026-03-01T12:00:00Zx", "x026-03-01T12:00:00Z",
                    "2026-03-01T12:00:00z", "0001-01-01T00:00:00Z", "1686-01-02T01:00:00Z",
                    "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "-026-03-01T12:00:00Z"));

RC_GTEST_PROP(Rfc3339, SecondsSurviveWritingAndReading, ()) {
  const auto seconds = *rc::gen::inRange<std::int64_t>(0, 9'000'000'000);
  const TimePoint time{std::chrono::seconds(seconds)};
  RC_ASSERT(parse_rfc3339(format_rfc3339(time)) == time);
}

RC_GTEST_PROP(Rfc3339, ArbitraryTextNeverCrashesTheReader, (const std::string& text)) {
  parse_rfc3339(text);
  parse_rfc3339("2026-03-01T" + text);
}

struct DurationText {
  const char* text;
  Duration value;
};
class GoDuration : public testing::TestWithParam<DurationText> {};
TEST_P(GoDuration, IsReadAsGoReadsIt) {
  const auto parsed = parse_go_duration(GetParam().text);
  ASSERT_TRUE(parsed) << GetParam().text;
  EXPECT_EQ(*parsed, GetParam().value) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(
    Texts, GoDuration,
    testing::Values(
        DurationText{"0", 0s}, DurationText{"+0", 0s}, DurationText{"-0", 0s},
        DurationText{"5s", 5s}, DurationText{"+5s", 5s}, DurationText{"-5s", -5s},
        DurationText{"1478s", 1478s}, DurationText{"5.0s", 5s}, DurationText{"5.6s", 5s + 600ms},
        DurationText{"5.s", 5s}, DurationText{".5s", 500ms}, DurationText{"1.004s", 1s + 4ms},
        DurationText{"100.00100s", 100s + 1ms}, DurationText{"10ns", 10ns},
        DurationText{"11us", 11us}, DurationText{"12µs", 12us}, DurationText{"12μs", 12us},
        DurationText{"13ms", 13ms}, DurationText{"14s", 14s}, DurationText{"15m", 15min},
        DurationText{"16h", 16h}, DurationText{"3h30m", 3h + 30min},
        DurationText{"10.5s4m", 4min + 10s + 500ms}, DurationText{"-2m3.4s", -(2min + 3s + 400ms)},
        DurationText{"1h2m3s4ms5us6ns", 1h + 2min + 3s + 4ms + 5us + 6ns},
        DurationText{"52763797000ns", 52763797000ns}, DurationText{"0.3333333333333333333h", 20min},
        DurationText{"0.100000000000000000000h", 6min},
        DurationText{"9223372036854775807ns", Duration::max()},
        DurationText{"-9223372036854775808ns", Duration::min()},
        DurationText{"9223372036s", 9223372036s}, DurationText{"720h", 720h}));

class NotAGoDuration : public testing::TestWithParam<const char*> {};
TEST_P(NotAGoDuration, IsInvalidAndTheMessageShowsIt) {
  const auto parsed = parse_go_duration(GetParam());
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind, ErrorKind::Invalid);
  EXPECT_NE(parsed.error().message.find(GetParam()), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Texts, NotAGoDuration,
                         testing::Values("", "3", "-", "s", ".", "-.", ".s", "+.s", "1d", "1 s",
                                         " 1s", "1s ", "1h-2m", "Never", "\x85\x85", "1S",
                                         "9223372036854775808ns", "-9223372036854775809ns",
                                         "9223372036854775.808us", "3000000h", "1e3s"));

TEST(GoDuration, IsWrittenAsGoWritesIt) {
  const std::vector<DurationText> cases{{"0s", 0s},
                                        {"1ns", 1ns},
                                        {"1.1µs", 1100ns},
                                        {"2.2ms", 2200us},
                                        {"3.3s", 3300ms},
                                        {"4m5s", 4min + 5s},
                                        {"4m5.001s", 4min + 5s + 1ms},
                                        {"5h6m7.001s", 5h + 6min + 7s + 1ms},
                                        {"8m0.000000001s", 8min + 1ns},
                                        {"1h0m0s", 1h},
                                        {"-1.5s", -1500ms},
                                        {"2562047h47m16.854775807s", Duration::max()},
                                        {"-2562047h47m16.854775808s", Duration::min()}};
  for (const auto& [text, value] : cases) {
    EXPECT_EQ(format_go_duration(value), text);
  }
}

RC_GTEST_PROP(GoDuration, SurvivesWritingAndReading, (std::int64_t nanos)) {
  const auto again = parse_go_duration(format_go_duration(Duration(nanos)));
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->count() == nanos);
}

RC_GTEST_PROP(GoDuration, ArbitraryTextNeverCrashesTheReader, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("0123456789.+-hmsnu\xc2\xb5 ")));
  parse_go_duration(text);
}

TEST(HumanDuration, IsShortAsKubectlPrintsAges) {
  const std::vector<DurationText> cases{{"<invalid>", -2s},
                                        {"0s", -1s},
                                        {"0s", 0s},
                                        {"45s", 45s + 900ms},
                                        {"119s", 119s},
                                        {"2m", 2min},
                                        {"3m10s", 3min + 10s},
                                        {"10m", 10min + 30s},
                                        {"179m", 179min},
                                        {"3h", 3h},
                                        {"7h59m", 7h + 59min},
                                        {"8h", 8h + 30min},
                                        {"47h", 47h},
                                        {"2d", 48h},
                                        {"3d4h", 76h},
                                        {"8d", 8 * 24h + 5h},
                                        {"729d", 729 * 24h},
                                        {"2y", 730 * 24h},
                                        {"2y10d", 740 * 24h},
                                        {"8y", 8 * 365 * 24h + 24h}};
  for (const auto& [text, value] : cases) {
    EXPECT_EQ(format_human_duration(value), text);
  }
}

}  // namespace
}  // namespace millwright::base
