#include "controllers/disruption/failed_claims.hpp"

#include <gtest/gtest.h>

#include <string>

namespace millwright::controllers {
namespace {

using std::chrono::minutes;

constexpr base::TimePoint kBegin{std::chrono::hours(480'000)};

base::Duration pause_of(const FailedClaims& failed, const std::string& claim, base::TimePoint now) {
  const auto found = failed.all().find(claim);
  return found == failed.all().end() ? base::Duration::zero() : found->second.until - now;
}

TEST(FailedClaims, AreLeftAloneForTwiceAsLongEachTime) {
  FailedClaims failed;
  base::TimePoint now = kBegin;
  for (const int expected : {1, 2, 4, 8, 10, 10}) {
    failed.add("a", "denied", now);
    EXPECT_EQ(pause_of(failed, "a", now), minutes(expected));
    now += minutes(expected);
  }
  failed.add("b", "denied", now);
  EXPECT_EQ(pause_of(failed, "b", now), minutes(1));
  EXPECT_EQ(failed.all().at("b").error, "denied");
}

TEST(FailedClaims, AreForgottenWhenNothingFailsForAWhile) {
  FailedClaims failed;
  failed.add("a", "denied", kBegin);
  failed.add("a", "denied", kBegin + minutes(1));
  failed.forget_old(kBegin + minutes(12));
  EXPECT_EQ(failed.all().size(), 1U);
  failed.forget_old(kBegin + minutes(13));
  EXPECT_TRUE(failed.all().empty());
  failed.add("a", "denied", kBegin + minutes(13));
  EXPECT_EQ(pause_of(failed, "a", kBegin + minutes(13)), minutes(1));
}

}  // namespace
}  // namespace millwright::controllers
