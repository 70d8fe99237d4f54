// The room of CapacityBuffers moves with the nodes that keep it.
#include "cluster_builder.hpp"

namespace millwright::disruption {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void drift_buffered(Member& member) {
  member.claim->conditions.push_back({.type = "Drifted",
                                      .status = model::ConditionStatus::True,
                                      .reason = "NodePoolDrifted",
                                      .last_transition_time = kLongAgo});
}

// Where the pod goes: a node's name, or "new".
std::string destination_of(const Command& command, const model::Pod& pod) {
  for (const auto& placement : command.placements) {
    if (placement.pod_uid == pod.meta.uid) {
      const auto* name = std::get_if<std::string>(&placement.target);
      return name == nullptr ? "new" : *name;
    }
  }
  return {};
}

Cluster without_consolidation() {
  Cluster cluster;
  cluster.pool().consolidate_after.text = "Never";
  return cluster;
}

TEST(Buffers, ADriftedNodeIsReplacedThoughItHoldsNothingElse) {
  auto cluster = without_consolidation();
  drift_buffered(cluster.add_node("a"));
  const auto room = cluster.add_room("room", "a");
  const auto decisions = cluster.decide();
  ASSERT_THAT(claims_of(decisions), ElementsAre("a-claim")) << cluster.why_not("a");
  const auto& command = decisions.commands[0];
  EXPECT_EQ(command.reason, Reason::Drifted);
  EXPECT_THAT(command.replacements, SizeIs(1));
  EXPECT_EQ(destination_of(command, *room), "new");
  EXPECT_TRUE(still_valid(command, cluster.input()));
  cluster.pool().budgets = {{.nodes = "0"}};
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
}

// Its kubelet starts again: the room is there once it has.
TEST(Buffers, RoomOnANodeThatIsNotReadyStaysThereAndStopsNothing) {
  auto cluster = without_consolidation();
  cluster.set_types("pool", {instance_type("medium", 4, 2)});
  drift_buffered(cluster.add_node("a", {pod("p", 3500)}));
  cluster.add_node("b").node->conditions.front().status = model::ConditionStatus::False;
  const auto room = cluster.add_room("room", "b", 3500);
  const auto decisions = cluster.decide();
  ASSERT_THAT(claims_of(decisions), ElementsAre("a-claim")) << cluster.why_not("a");
  EXPECT_THAT(decisions.commands[0].replacements, SizeIs(1));
  EXPECT_EQ(destination_of(decisions.commands[0], *room), "");
}

TEST(Buffers, ADriftedNodeGoesWhereOthersHaveTheRoom) {
  auto cluster = without_consolidation();
  drift_buffered(cluster.add_node("a"));
  cluster.add_node("b", {pod("p")});
  const auto room = cluster.add_room("room", "a");
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  EXPECT_THAT(decisions.commands[0].replacements, IsEmpty());
  EXPECT_EQ(destination_of(decisions.commands[0], *room), "b");
}

TEST(Buffers, NobodyMovesIntoTheRoomOfAnother) {
  auto cluster = without_consolidation();
  const auto moved = pod("p");
  drift_buffered(cluster.add_node("a", {moved}));
  cluster.add_node("b");
  cluster.add_room("room", "b", 3500);
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  EXPECT_EQ(destination_of(decisions.commands[0], *moved), "new");
}

TEST(Buffers, OneNodeIsEnoughForTheRoomOfTwo) {
  Cluster cluster;
  cluster.add_node("a", {}, {.type = "small"});
  cluster.add_node("b", {}, {.type = "small"});
  const auto first = cluster.add_room("first", "a");
  const auto second = cluster.add_room("second", "b");
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  const auto& command = decisions.commands[0];
  EXPECT_EQ(command.reason, Reason::Underutilized);
  EXPECT_THAT(command.replacements, IsEmpty());
  ASSERT_THAT(command.claims, SizeIs(1));
  const bool first_goes = command.claims.front() == "a-claim";
  EXPECT_EQ(destination_of(command, first_goes ? *first : *second), first_goes ? "b" : "a");
}

TEST(Buffers, ANodeIsReplacedByACheaperOne) {
  Cluster cluster;
  cluster.add_node("a", {}, {.type = "large"});
  const auto room = cluster.add_room("room", "a");
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  EXPECT_EQ(decisions.commands[0].reason, Reason::Underutilized);
  ASSERT_THAT(decisions.commands[0].replacements, SizeIs(1));
  EXPECT_EQ(decisions.commands[0].replacements[0].instance_types.front(), "small");
  EXPECT_EQ(destination_of(decisions.commands[0], *room), "new");
}

TEST(Buffers, ANodeThatHoldsNothingElseIsNotEmpty) {
  Cluster cluster;
  cluster.add_node("a", {}, {.type = "small"});
  cluster.add_room("room", "a");
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("No cheaper instance type"));
  cluster.pool().consolidation_policy = "WhenEmpty";
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("keeps room for a CapacityBuffer"));
}

TEST(Buffers, RoomOnANodeThatIsLeftAloneKeepsNoOther) {
  Cluster cluster;
  cluster.pool().consolidate_after.text = "1m";
  cluster.add_node("a", {pod("p")}, {.type = "large"});
  cluster.add_node("b", {pod("q")}).claim->last_pod_event_time = kNow - seconds(10);
  cluster.add_room("room", "b");
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim")) << cluster.why_not("a");
}

TEST(Buffers, RoomThatCameSinceTheDecisionNeedsAnotherOne) {
  auto cluster = without_consolidation();
  drift_buffered(cluster.add_node("a"));
  cluster.add_node("b", {pod("p")});
  cluster.add_room("room", "a");
  const auto command = cluster.decide().commands.at(0);
  EXPECT_TRUE(still_valid(command, cluster.input()));
  cluster.add_room("more", "a");
  EXPECT_FALSE(still_valid(command, cluster.input()));
}

TEST(Buffers, AStaticNodesReplacementTakesItsRoomOver) {
  Cluster cluster;
  cluster.pool().replicas = 1;
  cluster.options.static_capacity = true;
  drift_buffered(cluster.add_node("a"));
  cluster.add_room("room", "a");
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  ASSERT_THAT(decisions.commands[0].replacements, SizeIs(1));
  EXPECT_THAT(decisions.commands[0].replacements[0].pod_uids, ElementsAre("uid-room"));
}

}  // namespace
}  // namespace millwright::disruption
