// Which lots are looked at for a claim.
#include "search_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

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

// Workloads of pods that must not share a node with each other: CPUs of a pod of each.
ProblemBuilder apart_workloads(const std::vector<int>& cpus, int pods_of_each) {
  ProblemBuilder problem;
  problem.add(pool("default"), types_of({{64, 64, 100, 1}}));
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const std::string name = "workload" + std::to_string(i);
    problem.add(pods(pods_of_each, name,
                     pod_of(name, {.cpu = cpus[i]}).label("app", name).with([&](model::Pod& p) {
                       p.spec.affinity.required_pod_anti_affinity.push_back(
                           {.label_selector = model::LabelSelector{.match_labels = {{"app", name}}},
                            .topology_key = std::string(model::kHostnameLabel)});
                     })));
  }
  return problem;
}

TEST(PodLots, DealtIntoPartsPodsThatKeepApartNeedClaimsInEach) {
  SearchWorld world(apart_workloads({1, 2, 3, 4}, 3));
  ASSERT_THAT(world.all(), SizeIs(4));
  EXPECT_EQ(world.lots().claims_needed(), 3U);
  EXPECT_EQ(world.lots().claims_needed(2), 6U);
  EXPECT_EQ(world.lots().claims_needed(4), 12U);
  for (const std::size_t part : {0, 1}) {
    EXPECT_EQ(world.lots().part(part, 2).claims_needed(), 3U);
  }
}

TEST(PodLots, OfPodsThatKeepApartFromTheSameOnlyOneGoesToANode) {
  SearchWorld world(apart_workloads({2, 2}, 3));
  ASSERT_THAT(world.all(), SizeIs(1)) << "they ask for the same";
  EXPECT_EQ(world.lots().most_together(world.all().front()), 2U);

  PodLots lots(world.compiled().pods, world.compiled().topology, world.packing().drafts());
  for (const ClaimDraft& claim : world.packing().drafts().claims()) {
    lots.take(claim);
  }
  lots.sort(world.compiled().pools, PodLots::Apart::ByGroup);
  ASSERT_THAT(lots.lots(), SizeIs(2));
  for (const Lot& lot : lots.lots()) {
    EXPECT_EQ(lots.most_together(lot), 1U);
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
