// Claims that are packed again when the plan is made, a few at a time.
#include "scheduling/search/rebuilding.hpp"

#include "search_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

using ::testing::SizeIs;

PoolSearch search_in(SearchWorld& world) {
  return {world.compiled().pods, world.compiled().pools, world.compiled().topology,
          world.packing().drafts(), PoolId(0)};
}

std::set<PodId> pods_on(const ById<ClaimId, ClaimDraft>& claims) {
  std::set<PodId> pods;
  for (const ClaimDraft& claim : claims) {
    pods.insert(claim.pods.begin(), claim.pods.end());
  }
  return pods;
}

double price_in(SearchWorld& world) {
  double price = 0;
  for (const ClaimDraft& claim : world.packing().drafts().claims()) {
    price += search_in(world).price_of(claim);
  }
  return price;
}

const std::vector<LotOf> kTwoProportions = {{3, 1, 4}, {1, 15, 4}};

TEST(Rebuilding, PodsOfADearClaimMoveToMachinesThatTheyFill) {
  SearchWorld world(world_of({{4, 16, 10, 1}, {16, 64, 40, 5}}, kTwoProportions));
  const auto& claims = world.packing().drafts().claims();
  ASSERT_THAT(claims, SizeIs(1));
  const auto before = pods_on(claims);
  EXPECT_TRUE(Rebuilding(search_in(world)).run());
  EXPECT_THAT(claims, SizeIs(4));
  EXPECT_EQ(pods_on(claims), before);
  EXPECT_FALSE(Rebuilding(search_in(world)).run());
}

TEST(Rebuilding, SavingLittleIsNotWorthManyNodes) {
  SearchWorld world(world_of({{4, 16, 10, 1}, {16, 64, 40, 4.04}}, kTwoProportions));
  EXPECT_FALSE(Rebuilding(search_in(world)).run());
  EXPECT_THAT(world.packing().drafts().claims(), SizeIs(1));
}

// 28 CPUs, and CPUs cost the same on all machines: two of the largest have four too many.
TEST(Rebuilding, OfFewClaimsTheCheapestMachinesAreFound) {
  SearchWorld world(world_of({{2, 8, 10, 2}, {4, 16, 20, 4}, {16, 64, 90, 16}},
                             {{3, 11, 4}, {2, 7, 5}, {1, 5, 6}}));
  EXPECT_TRUE(Rebuilding(search_in(world)).run());
  EXPECT_NEAR(price_in(world), 28, 1e-9);
}

Problem problem_of_few_claims(const std::vector<int>& amounts) {
  ProblemBuilder problem = world_of(
      {{2, 8, 10, 2.1}, {4, 16, 20, 4}, {8, 16, 40, 6.5}, {16, 64, 90, 15}, {16, 32, 90, 12.5}},
      {{3, 11, amounts[0]}, {2, 3, amounts[1]}, {1, 5, amounts[2]}, {1, 2, amounts[3]}});
  return problem.problem();
}

RC_GTEST_PROP(RebuildingProperty, TheOrderOfThePodsDoesNotMatter, ()) {
  const auto amounts = *rc::gen::container<std::vector<int>>(4, rc::gen::inRange(1, 16));
  const Problem problem = problem_of_few_claims(amounts);
  Problem shuffled = problem;
  std::shuffle(shuffled.pods.begin(), shuffled.pods.end(),
               std::mt19937(*rc::gen::arbitrary<std::uint32_t>()));
  const Plan plan = solve(problem);
  const Plan other = solve(shuffled);
  RC_ASSERT(plan.claims.size() == other.claims.size());
  for (std::size_t i = 0; i < plan.claims.size(); ++i) {
    RC_ASSERT(plan.claims[i].instance_types == other.claims[i].instance_types);
    RC_ASSERT(plan.claims[i].pod_uids == other.claims[i].pod_uids);
    RC_ASSERT(plan.claims[i].price == other.claims[i].price);
  }
}

TEST(Rebuilding, DoesNotBeginWherePodsThatKeepApartDecideHowManyClaimsThereAre) {
  SearchWorld world(world_of({{4, 16, 10, 1}, {16, 64, 40, 5}}, kTwoProportions));
  EXPECT_TRUE(Rebuilding::may_save(world.lots(), 1, 5));
  EXPECT_FALSE(Rebuilding::may_save(world.lots(), 0, 5));
  EXPECT_FALSE(Rebuilding::may_save(world.lots(), 1, world.lots().least()));
}

}  // namespace
}  // namespace millwright::scheduling::testing
