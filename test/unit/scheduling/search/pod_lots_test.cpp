// Which lots are looked at for a claim.
#include "search_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::string_view kTeam = "example.com/team";

// Three teams with nodes of their own.
ProblemBuilder teams() {
  ProblemBuilder problem;
  problem.add(pool("default").requires_({std::string(kTeam), model::Operator::Exists, {}, {}}),
              types_of({{8, 8, 20, 1}}));
  for (const char* team : {"a", "b", "c"}) {
    for (const int cpu : {1, 2}) {
      const std::string name = std::string(team) + std::to_string(cpu);
      problem.add(pods(3, name, pod_of(name, {.cpu = cpu}).selects(kTeam, team)));
    }
  }
  return problem;
}

std::string team_of(SearchWorld& world, LotId lot) {
  const ClaimShapes& shapes = world.packing().drafts().shapes();
  return shapes[world.all()[lot].shape].requirements.find(kTeam)->values().front();
}

TEST(PodLots, OfTeamsWithNodesOfTheirOwnOnlyOneMeetsAClaim) {
  SearchWorld world(teams());
  ASSERT_THAT(world.all(), SizeIs(6));
  for (LotId lot; lot < world.all().end_id(); ++lot) {
    const auto meeting = world.lots().meeting(world.all()[lot].shape);
    ASSERT_THAT(meeting, SizeIs(2));
    EXPECT_LT(meeting[0], meeting[1]);
    EXPECT_EQ(team_of(world, meeting[0]), team_of(world, lot));
    EXPECT_EQ(team_of(world, meeting[1]), team_of(world, lot));
  }
}

TEST(PodLots, PodsWithoutASelectorMeetEveryClaim) {
  SearchWorld world(world_of({{8, 8, 20, 1}}, {{1, 1, 2}, {2, 2, 2}, {3, 3, 2}}));
  EXPECT_THAT(world.lots().meeting(world.all().front().shape),
              ElementsAre(LotId(0), LotId(1), LotId(2)));
}

}  // namespace
}  // namespace millwright::scheduling::testing
