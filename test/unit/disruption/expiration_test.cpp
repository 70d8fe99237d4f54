// When an expired node goes.
#include "millwright/disruption/expiration.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

base::TimePoint date(std::string_view text) {
  return base::parse_rfc3339(text).value();
}

model::NodeClaim claim_of(const std::string& uid) {
  model::NodeClaim claim;
  claim.meta.uid = uid;
  return claim;
}

Preferences waiting_for(const std::string& windows) {
  return parse_preferences({{std::string(model::kExpirationWindowsAnnotation), windows}});
}

// Sundays, 02:00 to 06:00 in Berlin: in January from 01:00 to 05:00 UTC. 2026-01-11 is a Sunday.
const std::string kSundays = "0 2 * * sun for 4h in Europe/Berlin";

TEST(ExpirationWindows, AreNotWaitedForWithoutTheAnnotation) {
  const auto expiry = date("2026-01-08T12:00:00Z");
  EXPECT_EQ(expiration_begin(claim_of("a"), {}, expiry, expiry), expiry);
  EXPECT_EQ(expiration_begin(claim_of("a"), {}, expiry, expiry + hours(500)), expiry);
  const auto others =
      parse_preferences({{std::string(model::kDisruptionWindowsAnnotation), kSundays}});
  EXPECT_EQ(expiration_begin(claim_of("a"), others, expiry, expiry), expiry);
}

TEST(ExpirationWindows, ANodeThatExpiresInOneGoesAtOnce) {
  for (const auto* expiry : {"2026-01-11T01:00:00Z", "2026-01-11T04:59:59Z"}) {
    EXPECT_EQ(expiration_begin(claim_of("a"), waiting_for(kSundays), date(expiry), date(expiry)),
              date(expiry));
  }
}

TEST(ExpirationWindows, OneThatExpiresBetweenThemGoesInTheFirstHalfOfTheNext) {
  std::set<base::TimePoint> begins;
  const auto opens = date("2026-01-11T01:00:00Z");
  const auto expiry = date("2026-01-08T12:00:00Z");
  for (int i = 0; i < 100; ++i) {
    const auto claim = claim_of("00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + i));
    const auto begin = expiration_begin(claim, waiting_for(kSundays), expiry, expiry);
    EXPECT_GE(begin, opens);
    EXPECT_LT(begin, opens + hours(2));
    EXPECT_EQ(begin, expiration_begin(claim, waiting_for(kSundays), expiry, opens + minutes(1)))
        << "the same moment, whenever it is asked for";
    begins.insert(begin);
  }
  EXPECT_EQ(begins.size(), 100U);
  base::TimePoint last = opens;
  for (const auto begin : begins) {
    EXPECT_LT(begin - last, minutes(15)) << "no storm, and no long pause";
    last = begin;
  }
}

// The program may have been away while the window was open.
TEST(ExpirationWindows, OneThatMissedAWindowWaitsForTheNext) {
  const auto expiry = date("2026-01-10T12:00:00Z");
  const auto daily = waiting_for("0 2 * * * for 4h");
  const auto begin = expiration_begin(claim_of("a"), daily, expiry, date("2026-01-11T06:00:00Z"));
  EXPECT_GE(begin, date("2026-01-12T02:00:00Z"));
  EXPECT_LT(begin, date("2026-01-12T04:00:00Z"));
}

TEST(ExpirationWindows, NoNodeWaitsForMoreThanEightDays) {
  const auto expiry = date("2026-01-08T12:00:00Z");
  const auto latest = expiry + hours(24 * 8);
  for (const auto* windows :
       {"0 2 1 * * for 4h", "0 0 30 2 * for 1h", "at night", "", "Drifted: 0 2 * * sun for 4h"}) {
    for (const auto now : {expiry, latest, latest + hours(1000)}) {
      EXPECT_EQ(expiration_begin(claim_of("a"), waiting_for(windows), expiry, now), latest)
          << windows;
    }
  }
  // It is missed every time.
  EXPECT_LE(expiration_begin(claim_of("a"), waiting_for(kSundays), expiry, latest + hours(1)),
            latest);
  // The window opens before they are over, and the claim's moment in it may come later.
  const auto late = waiting_for("0 11 16 1 * for 4h");
  for (const auto* uid : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    EXPECT_LE(expiration_begin(claim_of(uid), late, expiry, expiry), latest);
  }
}

TEST(ExpirationWindows, AWeeklyOneIsAlwaysReached) {
  const auto weekly = waiting_for("0 2 * * sun for 10m in America/New_York");
  for (auto expiry = date("2026-01-01T00:00:00Z"); expiry < date("2027-01-01T00:00:00Z");
       expiry += hours(5)) {
    const auto begin = expiration_begin(claim_of("a"), weekly, expiry, expiry);
    const auto open = weekly.expiration_windows.open_at_or_after(expiry);
    EXPECT_GE(begin, open->begin);
    EXPECT_LT(begin, open->end);
  }
}

TEST(ExpirationWindows, ThatOverlapAllTheTimeDelayNothing) {
  const auto always = waiting_for("* * * * * for 10m");
  for (auto expiry = date("2026-01-08T12:00:00Z"); expiry < date("2026-01-08T12:10:00Z");
       expiry += std::chrono::seconds(7)) {
    EXPECT_EQ(expiration_begin(claim_of("a"), always, expiry, expiry), expiry);
    const auto now = expiry + hours(1);
    EXPECT_LE(expiration_begin(claim_of("a"), always, expiry, now), now);
  }
}

TEST(ExpirationWindows, AreNotPutOffAtTheEndOfAllTime) {
  const auto expiry = base::TimePoint::max() - hours(1);
  EXPECT_EQ(expiration_begin(claim_of("a"), waiting_for("at night"), expiry, expiry),
            base::TimePoint::max());
}

// What is wrong with them holds no node from other disruption.
TEST(ExpirationWindows, ThatCannotBeReadCloseNothingElse) {
  const auto preferences = waiting_for("at night");
  EXPECT_EQ(preferences.unreadable.size(), 1U);
  EXPECT_FALSE(preferences.closed(Reason::Drifted, date("2026-01-08T12:00:00Z")));
}

}  // namespace
}  // namespace millwright::disruption
