// Claims that are packed again when the plan is made, a few at a time.
#include "scheduling/search/rebuilding.hpp"

#include "search_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Rebuilding, DoesNotBeginWherePodsThatKeepApartDecideHowManyClaimsThereAre) {
  SearchWorld world(world_of({{4, 16, 10, 1}, {16, 64, 40, 5}}, kTwoProportions));
  EXPECT_TRUE(Rebuilding::may_save(world.lots(), 1, 5));
  EXPECT_FALSE(Rebuilding::may_save(world.lots(), 0, 5));
  EXPECT_FALSE(Rebuilding::may_save(world.lots(), 1, world.lots().least()));
}

}  // namespace
}  // namespace millwright::scheduling::testing
