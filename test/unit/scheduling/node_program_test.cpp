// Fills of nodes and of machines to buy, all at once (src/scheduling/node_program.hpp).
#include "scheduling/node_program.hpp"

#include "search_world.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

constexpr std::size_t kPlenty = 1'000'000'000;

std::vector<SoldMachine> nodes_of(const SearchWorld& world, const std::vector<Amounts>& rooms) {
  std::vector<SoldMachine> nodes;
  for (const Amounts& room : rooms) {
    SoldMachine& node = nodes.emplace_back();
    node.room = &room;
    node.users.resize(world.all().size());
    std::iota(node.users.begin(), node.users.end(), 0U);
  }
  return nodes;
}

// Pods of one CPU cost as much whatever memory they take, so nodes with little memory take the most
// of those that want little.
TEST(NodeProgram, NodesTakeWhatSavesMost) {
  SearchWorld world(world_of({{4, 16, 20, 1}}, {{1, 1, 20}, {1, 4, 16}}));
  const auto market = world.machines();
  const std::vector<Amounts> rooms(2, world.room({8, 9, 20}));
  const auto nodes = nodes_of(world, rooms);
  NodeProgram program(world.lots(), market, nodes);
  std::size_t work = kPlenty;
  ASSERT_TRUE(program.run(work));
  for (const auto& wanted : program.wanted()) {
    EXPECT_NEAR(wanted.share, 1, 1e-6);
    ASSERT_EQ(wanted.pods.size(), 1U);
    const Lot& lot = world.all()[wanted.pods.front().first];
    EXPECT_EQ(*lot.requests, world.room({1, 1, 1}));
    EXPECT_EQ(wanted.pods.front().second, 8U);
  }
  for (const double value : program.values()) {
    EXPECT_NEAR(value, 0.25, 1e-6);
  }
}

// A node is filled once, however good its room is.
TEST(NodeProgram, WhatIsNotOnNodesIsBought) {
  SearchWorld world(world_of({{4, 4, 20, 1}}, {{1, 1, 40}, {2, 2, 10}}));
  const auto market = world.machines();
  const std::vector<Amounts> rooms(1, world.room({4, 4, 20}));
  const auto nodes = nodes_of(world, rooms);
  NodeProgram program(world.lots(), market, nodes);
  std::size_t work = kPlenty;
  ASSERT_TRUE(program.run(work));
  EXPECT_LE(program.wanted().front().share, 1 + 1e-6);
  for (std::size_t lot = 0; lot < world.all().size(); ++lot) {
    EXPECT_NEAR(program.values()[lot], world.all()[lot].least, 1e-6);
  }
}

TEST(NodeProgram, TooManyNodesAreLeftToOthers) {
  SearchWorld world(world_of({{4, 4, 20, 1}}, {{1, 1, 40}, {2, 2, 10}}));
  const auto market = world.machines();
  const std::vector<Amounts> rooms(400, world.room({4, 4, 20}));
  const auto nodes = nodes_of(world, rooms);
  NodeProgram program(world.lots(), market, nodes);
  std::size_t work = kPlenty;
  EXPECT_FALSE(program.run(work));
  EXPECT_EQ(work, kPlenty);
}

}  // namespace
}  // namespace millwright::scheduling::testing
