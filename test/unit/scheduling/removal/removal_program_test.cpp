#include "millwright/scheduling/removal_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kNear = 1e-6;

model::ResourceList room(std::int64_t cpus, std::int64_t gibibytes) {
  return {{"cpu", model::Quantity::from_units(cpus)},
          {"memory", model::Quantity::from_units(gibibytes << 30)}};
}

RemovalProgram program_of(model::ResourceList demand, std::vector<RemovalProgram::Node> nodes) {
  const auto count = static_cast<int>(nodes.size());
  return {
      .demand = std::move(demand), .nodes = std::move(nodes), .budgets = {count}, .machines = {}};
}

TEST(RemovalProgram, GivesUpTheNodesThatCostMostForTheirRoom) {
  const auto advice = solve(program_of(
      room(8, 8), {{room(8, 32), 4.0, 0, 0}, {room(8, 32), 1.0, 0, 0}, {room(8, 32), 2.0, 0, 0}}));
  EXPECT_THAT(advice.kept,
              ElementsAre(DoubleNear(0, kNear), DoubleNear(1, kNear), DoubleNear(0, kNear)));
  EXPECT_NEAR(advice.saved, 6, kNear);
  EXPECT_NEAR(advice.bought, 0, kNear);
  EXPECT_LT(advice.regret[0], advice.regret[2]);
}

TEST(RemovalProgram, WeighsTheResourceThatIsScarce) {
  // Memory decides: the node with much of it stays, though others are cheaper.
  const auto advice = solve(
      program_of(room(2, 64),
                 {{room(16, 16), 1.0, 0, 0}, {room(4, 64), 2.0, 0, 0}, {room(16, 16), 1.0, 0, 0}}));
  EXPECT_THAT(advice.kept,
              ElementsAre(DoubleNear(0, kNear), DoubleNear(1, kNear), DoubleNear(0, kNear)));
}

TEST(RemovalProgram, TakesNodesThatAreAlikeAsOne) {
  const auto advice = solve(program_of(room(20, 20), {{room(8, 32), 1.0, 0, 0},
                                                      {room(8, 32), 1.0, 0, 0},
                                                      {room(8, 32), 1.0, 0, 0},
                                                      {room(8, 32), 1.0, 0, 0}}));
  EXPECT_THAT(advice.kept, Each(DoubleNear(20.0 / 32, kNear)));
  EXPECT_NEAR(advice.saved, 1.5, kNear);
}

TEST(RemovalProgram, BuysWhatIsCheaperThanToKeep) {
  auto program = program_of(room(4, 64), {{room(32, 64), 6.0, 0, 0}, {room(32, 64), 6.0, 0, 0}});
  program.machines = {{room(4, 64), 2.0}, {room(32, 64), 6.0}};
  const auto advice = solve(program);
  EXPECT_THAT(advice.kept, Each(DoubleNear(0, kNear)));
  EXPECT_NEAR(advice.bought, 2, kNear);
  EXPECT_NEAR(advice.saved, 10, kNear);
}

TEST(RemovalProgram, KeepsWhatABudgetKeeps) {
  auto program = program_of(
      room(1, 1), {{room(8, 32), 3.0, 0, 0}, {room(8, 32), 2.0, 0, 0}, {room(8, 32), 1.0, 0, 1}});
  program.budgets = {1, 0};
  const auto advice = solve(program);
  EXPECT_THAT(advice.kept,
              ElementsAre(DoubleNear(0, kNear), DoubleNear(1, kNear), DoubleNear(1, kNear)));
}

TEST(RemovalProgram, PrefersTheNodeWhosePodsAreCheaperToEvict) {
  const auto advice =
      solve(program_of(room(8, 8), {{room(8, 32), 2.0, 0.2, 0}, {room(8, 32), 2.0, 0.1, 0}}));
  EXPECT_THAT(advice.kept, ElementsAre(DoubleNear(1, kNear), DoubleNear(0, kNear)));
}

TEST(RemovalProgram, KeepsEverythingWhenAllRoomIsNeeded) {
  const auto advice =
      solve(program_of(room(16, 64), {{room(8, 32), 2.0, 0, 0}, {room(8, 32), 1.0, 0, 0}}));
  EXPECT_THAT(advice.kept, Each(DoubleNear(1, kNear)));
  EXPECT_NEAR(advice.saved, 0, kNear);
}

TEST(RemovalProgram, HasNothingToSayWithoutNodes) {
  EXPECT_THAT(solve(RemovalProgram{}).kept, ::testing::IsEmpty());
}

}  // namespace
}  // namespace millwright::scheduling
