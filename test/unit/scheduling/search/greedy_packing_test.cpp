// Claim by claim, within the work that a search may do.
#include "scheduling/search/filling/greedy_packing.hpp"

#include "search_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

// A hundred claims of two pods each.
ProblemBuilder hundred_claims() {
  return world_of({{4, 8, 10, 1}}, {{3, 1, 100}, {1, 7, 100}});
}

struct Pass {
  bool finished = false;
  std::size_t work = 0;
  std::size_t pods_left = 0;
};

Pass pass_with(SearchWorld& world, std::size_t most_work) {
  GreedyPacking greedy({world.compiled().pods, world.compiled().pools, world.compiled().topology,
                        world.packing().drafts(), PoolId(0)},
                       most_work);
  PodLots lots = world.lots();
  std::vector<ClaimDraft> claims;
  greedy.begin_pass(lots, 1);
  greedy.fill_kept(lots, claims);
  const bool finished = greedy.pack(lots, claims);
  return {finished, greedy.work(), lots.pods_left()};
}

TEST(GreedyPacking, APassThatDoesMoreThanItMayIsGivenUp) {
  SearchWorld world(hundred_claims());
  const Pass all = pass_with(world, kMaxGreedyWork);
  EXPECT_TRUE(all.finished);
  EXPECT_EQ(all.pods_left, 0U);

  const Pass half = pass_with(world, all.work / 2);
  EXPECT_FALSE(half.finished);
  EXPECT_GT(half.pods_left, 0U);
  EXPECT_LT(half.work, all.work * 6 / 10) << "it ends with the claim that goes beyond";
}

}  // namespace
}  // namespace millwright::scheduling::testing
