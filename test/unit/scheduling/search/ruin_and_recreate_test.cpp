// Taking fills apart and packing their pods again: what comes out holds the same pods for less.
#include "scheduling/search/program/ruin_and_recreate.hpp"

#include "small_market.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kEnough = std::numeric_limits<std::size_t>::max();

TEST(FillSearch, APartOfTheRoomIsLeftToASmallerMachine) {
  // 5 CPUs: one of 4 and one of 1, not one of 8.
  SmallMarket market({{1, 4, 10, 1.1}, {4, 16, 10, 4}, {8, 32, 10, 8}}, {{1, 1, 5}});
  std::size_t work = kEnough;
  const auto of = market.of(0.01);
  const auto fills = FillSearch(of, market.all_pods()).run(8, {.discrepancies = 1}, work);
  EXPECT_THAT(fills, SizeIs(2));
  EXPECT_DOUBLE_EQ(price_of_all(fills), 5.1);
}

TEST(FillSearch, NodesCostSomethingToo) {
  SmallMarket market({{1, 4, 10, 1.1}, {4, 16, 10, 4}, {8, 32, 10, 5.5}}, {{1, 1, 5}});
  std::size_t work = kEnough;
  const auto of = market.of(0.5);
  const auto fills = FillSearch(of, market.all_pods()).run(8, {.discrepancies = 1}, work);
  EXPECT_THAT(fills, SizeIs(1));
}

TEST(FillSearch, NothingIsFoundWhereNothingCostsLess) {
  SmallMarket market({{4, 16, 10, 4}}, {{1, 1, 4}});
  std::size_t work = kEnough;
  const auto of = market.of(0);
  EXPECT_THAT(FillSearch(of, market.all_pods()).run(4, {}, work), IsEmpty());
}

TEST(RuinAndRecreate, PodsThatFillAMachineTogetherComeTogether) {
  SmallMarket market({{4, 16, 10, 1}}, {{3, 1, 4}, {1, 15, 4}});
  std::vector<Fill> fills = market.one_pod_each();
  ASSERT_THAT(fills, SizeIs(8));
  EXPECT_TRUE(RuinAndRecreate(market.of(0.01)).run(fills, kEnough));
  EXPECT_THAT(fills, SizeIs(4));
  EXPECT_FALSE(RuinAndRecreate(market.of(0.01)).run(fills, kEnough));
}

TEST(RuinAndRecreate, WithoutWorkNothingChanges) {
  SmallMarket market({{4, 16, 10, 1}}, {{1, 1, 4}});
  std::vector<Fill> fills = market.one_pod_each();
  EXPECT_FALSE(RuinAndRecreate(market.of(0.01)).run(fills, 0));
  EXPECT_THAT(fills, SizeIs(4));
}

RC_GTEST_PROP(RuinAndRecreate, KeepsAllPodsForNoMoreMoneyAndAlwaysInTheSameWay, ()) {
  const auto number = [](int from, int to) { return *rc::gen::inRange(from, to); };
  std::vector<MachineOf> machines = {{8, 32, 20, 8}};
  std::vector<LotOf> lots;
  for (int i = number(0, 4); i > 0; --i) {
    machines.push_back({number(1, 9), number(4, 33), 20, number(10, 90) / 10.0});
  }
  for (int i = number(1, 5); i > 0; --i) {
    lots.push_back({number(1, 5), number(1, 17), number(1, 6)});
  }
  SmallMarket market(machines, lots);
  const auto before = market.one_pod_each();
  auto fills = before;
  auto again = before;
  RuinAndRecreate(market.of(0.01)).run(fills, 200'000);
  RuinAndRecreate(market.of(0.01)).run(again, 200'000);
  RC_ASSERT(fills == again);
  RC_ASSERT(pods_of_all(fills) == pods_of_all(before));
  RC_ASSERT(price_of_all(fills) <= price_of_all(before) + 1e-9);
  for (const Fill& fill : fills) {
    RC_ASSERT(market.holds_its_pods(fill));
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
