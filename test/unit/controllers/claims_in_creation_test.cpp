#include "millwright/controllers/provisioning/claims_in_creation.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::controllers {
namespace {

using std::chrono::minutes;

constexpr base::TimePoint kBought{std::chrono::hours(1)};

model::ResourceList cpus(std::int64_t count) {
  return {{"cpu", model::Quantity::from_units(count)}};
}

void begin(ClaimsInCreation& claims, std::string name, std::string decision,
           std::string pool = "default") {
  claims.begin({.name = std::move(name),
                .node_pool = std::move(pool),
                .decision = std::move(decision),
                .charge = cpus(16)});
}

std::optional<std::string> exceeded(const ClaimsInCreation& claims, ClaimsInCreation::Shown seen,
                                    std::int64_t left, std::string_view decision = "mine") {
  return claims.exceeded_limit("default", decision, seen, cpus(left));
}

TEST(ClaimsInCreation, OfOthersTakeWhatADecisionLeftOfTheLimits) {
  ClaimsInCreation claims;
  const auto seen = claims.shown();
  begin(claims, "a", "theirs");
  EXPECT_EQ(exceeded(claims, seen, 15), "cpu");
  EXPECT_EQ(exceeded(claims, seen, 16), std::nullopt);
  claims.succeed("a", kBought);
  EXPECT_EQ(exceeded(claims, seen, 15), "cpu") << "the decision's snapshot was taken before";
  begin(claims, "b", "theirs");
  EXPECT_EQ(exceeded(claims, seen, 31), "cpu");
}

TEST(ClaimsInCreation, CountOnceASnapshotShowsThemNoMore) {
  ClaimsInCreation claims;
  begin(claims, "a", "theirs");
  claims.succeed("a", kBought);
  EXPECT_EQ(exceeded(claims, claims.shown(), 0), std::nullopt);
}

TEST(ClaimsInCreation, OfTheSameDecisionWerePlannedTogether) {
  ClaimsInCreation claims;
  const auto seen = claims.shown();
  begin(claims, "a", "mine");
  EXPECT_EQ(exceeded(claims, seen, 0), std::nullopt);
}

TEST(ClaimsInCreation, OfOtherPoolsCountAgainstOtherLimits) {
  ClaimsInCreation claims;
  const auto seen = claims.shown();
  begin(claims, "a", "theirs", "other");
  EXPECT_EQ(exceeded(claims, seen, 0), std::nullopt);
}

TEST(ClaimsInCreation, ThatFailLeaveTheLimitsAsTheyWere) {
  ClaimsInCreation claims;
  const auto seen = claims.shown();
  begin(claims, "a", "theirs");
  EXPECT_TRUE(claims.contains("a"));
  claims.fail("a");
  EXPECT_FALSE(claims.contains("a"));
  EXPECT_EQ(exceeded(claims, seen, 0), std::nullopt);
}

TEST(ClaimsInCreation, ThatTookLimitsAreForgottenWhenNoDecisionIsSoOld) {
  ClaimsInCreation claims;
  const auto seen = claims.shown();
  begin(claims, "a", "theirs");
  claims.succeed("a", kBought);
  begin(claims, "b", "theirs", "other");
  claims.succeed("b", kBought + minutes(11));
  EXPECT_EQ(exceeded(claims, seen, 0), std::nullopt);
}

// The pool was over its limits before: that is for the plan to know.
TEST(ClaimsInCreation, NobodyIsRefusedWhereNobodyElseBuys) {
  const ClaimsInCreation claims;
  EXPECT_EQ(exceeded(claims, claims.shown(), -1), std::nullopt);
}

}  // namespace
}  // namespace millwright::controllers
