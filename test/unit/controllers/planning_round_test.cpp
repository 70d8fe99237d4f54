// When a plan would be the same as the one before, and on which nodes it counts.
#include "controllers/provisioning/planning_round.hpp"

#include "millwright/scheduling/stuck_nodes.hpp"
#include "unit/cluster/objects.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

using scheduling::StuckNodes;
using std::chrono::minutes;
using testing::at;
using testing::ClaimBuilder;
using testing::NodeBuilder;

PlanningRound round_with(model::Node node, std::function<void(scheduling::NodeRecord&)> edit = {}) {
  auto record = std::make_shared<scheduling::NodeRecord>();
  record->node = std::make_shared<const model::Node>(std::move(node));
  record->claim = ClaimBuilder("claim").build();
  record->pods = {testing::PodBuilder("p").on("n").build()};
  if (edit) {
    edit(*record);
  }
  PlanningRound round;
  round.snapshot = std::make_shared<const scheduling::Snapshot>();
  round.problem.nodes = {record};
  round.problem.counted_nodes = {record};
  return round;
}

TEST(SameProblem, HeartbeatsAndNominationsMakeNoNewOne) {
  const auto node = *NodeBuilder("n").allocatable(4000).version(1).build();
  const auto before = round_with(node);
  EXPECT_TRUE(is_same_problem(before, round_with(node)));

  auto beating = node;
  beating.meta.resource_version = "2";
  beating.meta.annotations["volumes.kubernetes.io/attached"] = "true";
  beating.conditions = {{.type = "Ready", .last_heartbeat_time = at(10)}};
  EXPECT_TRUE(is_same_problem(before, round_with(beating)));
  EXPECT_TRUE(is_same_problem(before, round_with(node, [](auto& record) {
                                record.nominated_until = at(20);
                                record.pods = {
                                    testing::PodBuilder("p").on("n").phase("Running").build()};
                              })));
}

// From then on it does not count in the limits.
TEST(SameProblem, AClaimThatIsBeingDeletedMakesANewOne) {
  const auto node = *NodeBuilder("n").allocatable(4000).build();
  const auto leaving = round_with(node, [](auto& record) { record.marked_for_deletion = true; });
  EXPECT_FALSE(is_same_problem(leaving, round_with(node, [](auto& record) {
                                 record.marked_for_deletion = true;
                                 auto claim = *record.claim;
                                 claim.meta.deletion_timestamp = at(10);
                                 record.claim =
                                     std::make_shared<const model::NodeClaim>(std::move(claim));
                               })));
}

TEST(SameProblem, DevicesAreReadToo) {
  const auto node = *NodeBuilder("n").allocatable(4000).build();
  const auto with = [&](const std::function<void(scheduling::Snapshot&)>& edit) {
    auto round = round_with(node);
    auto snapshot = std::make_shared<scheduling::Snapshot>();
    edit(*snapshot);
    round.snapshot = std::move(snapshot);
    return round;
  };
  const auto before = with([](auto&) {});
  EXPECT_TRUE(is_same_problem(before, with([](auto&) {})));
  const std::function<void(scheduling::Snapshot&)> edits[] = {
      [](auto& s) { s.device_classes = {std::make_shared<const model::DeviceClass>()}; },
      [](auto& s) { s.resource_claims = {std::make_shared<const model::ResourceClaim>()}; },
      [](auto& s) {
        s.resource_claim_templates = {std::make_shared<const model::ResourceClaimTemplate>()};
      },
      [](auto& s) { s.resource_slices = {std::make_shared<const model::ResourceSlice>()}; },
      [](auto& s) {
        s.published_devices = std::make_shared<const scheduling::PublishedDevices>();
      }};
  for (const auto& edit : edits) {
    EXPECT_FALSE(is_same_problem(before, with(edit)));
  }
}

TEST(SameProblem, WhateverAPlanReadsMakesANewOne) {
  const auto node = *NodeBuilder("n").allocatable(4000).build();
  const auto before = round_with(node);
  auto labelled = node;
  labelled.meta.labels["zone"] = "b";
  EXPECT_FALSE(is_same_problem(before, round_with(labelled)));
  auto cordoned = node;
  cordoned.unschedulable = true;
  EXPECT_FALSE(is_same_problem(before, round_with(cordoned)));
  auto tainted = node;
  tainted.taints.push_back({.key = "a", .effect = "NoSchedule"});
  EXPECT_FALSE(is_same_problem(before, round_with(tainted)));
  const auto smaller = *NodeBuilder("n").allocatable(3000).build();
  EXPECT_FALSE(is_same_problem(before, round_with(smaller)));
  EXPECT_FALSE(is_same_problem(before, round_with(node, [](auto& record) {
                                 record.pods = {
                                     testing::PodBuilder("p").on("n").deleting().build()};
                               })));
  EXPECT_FALSE(is_same_problem(before, round_with(node, [](auto& r) { r.pods.clear(); })));
  EXPECT_FALSE(is_same_problem(before, round_with(node, [](auto& r) { r.fenced = true; })));
  EXPECT_FALSE(is_same_problem(before, round_with(node, [](auto& record) {
                                 record.claim = ClaimBuilder("claim").condition("Launched").build();
                               })));
}

// Room for two pods like this one is kept.
PlanningRound round_with_room_for(const testing::PodBuilder& sample) {
  auto round = round_with(*NodeBuilder("n").allocatable(4000).build());
  round.problem.kept = {{.target = "n", .pod_uid = {}, .sample = sample.build(), .pods = 2}};
  return round;
}

TEST(SameProblem, WhicheverPodStandsForAGroupKeepsItTheSame) {
  using testing::PodBuilder;
  const auto before = round_with_room_for(PodBuilder("a"));
  EXPECT_TRUE(is_same_problem(before, round_with_room_for(PodBuilder("b").version(7))));

  auto more = round_with_room_for(PodBuilder("a"));
  more.problem.kept.front().pods = 3;
  EXPECT_FALSE(is_same_problem(before, more));
  auto labelled = PodBuilder("a").value();
  labelled.meta.labels = {{"app", "web"}};
  auto others = round_with_room_for(PodBuilder("a"));
  others.problem.kept.front().sample = std::make_shared<const model::Pod>(labelled);
  EXPECT_FALSE(is_same_problem(before, others)) << "spread counts them otherwise";
  auto departs = round_with_room_for(PodBuilder("a"));
  departs.problem.departing = departs.problem.nodes.front()->pods;
  EXPECT_FALSE(is_same_problem(before, departs));
}

// Nodes of one pool that registered so many minutes ago and are not initialised.
scheduling::Snapshot starting(const std::vector<int>& minutes_ago) {
  scheduling::Snapshot snapshot;
  for (const int ago : minutes_ago) {
    auto claim = *ClaimBuilder("claim").condition("Registered").build();
    claim.conditions.back().last_transition_time = at(0) - minutes(ago);
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->node = NodeBuilder("n").build();
    record->claim = std::make_shared<const model::NodeClaim>(std::move(claim));
    snapshot.nodes.push_back(std::move(record));
  }
  return snapshot;
}

TEST(StuckNode, IsGivenUpAfterAWhileThatDoublesWithEachOfThePool) {
  const auto is_given_up = [](const std::vector<int>& minutes_ago) {
    const auto snapshot = starting(minutes_ago);
    const StuckNodes stuck(snapshot, at(0), minutes(15));
    return stuck.is_given_up(*snapshot.nodes.front());
  };
  EXPECT_FALSE(is_given_up({14}));
  EXPECT_TRUE(is_given_up({15}));
  EXPECT_TRUE(is_given_up({16, 14})) << "the second may still come up";
  EXPECT_FALSE(is_given_up({16, 15}));
  EXPECT_FALSE(is_given_up({29, 15}));
  EXPECT_TRUE(is_given_up({30, 15}));
  EXPECT_FALSE(is_given_up({59, 15, 30}));
  EXPECT_TRUE(is_given_up({60, 15, 30}));
}

TEST(StuckNode, CountsAgainOnceItIsInitialisedAndNotBeforeItRegistered) {
  auto snapshot = starting({100});
  auto record = *snapshot.nodes.front();
  record.node = NodeBuilder("n").label(model::kInitializedLabel, "true").build();
  const StuckNodes stuck(snapshot, at(0), minutes(15));
  EXPECT_FALSE(stuck.is_given_up(record));
  record.node = nullptr;
  EXPECT_FALSE(stuck.is_given_up(record));
}

// Its kubelet still reports, so that its pods leave and nobody says that it is unreachable.
TEST(StuckNode, ThatWasUpIsGivenUpAMinuteAfterItsReadiness) {
  const auto is_given_up = [](model::ConditionStatus ready, int seconds_ago, bool managed = true) {
    auto node = *NodeBuilder("n").label(model::kInitializedLabel, "true").build();
    node.conditions = {{.type = std::string(model::kReady),
                        .status = ready,
                        .last_transition_time = at(-seconds_ago)}};
    scheduling::NodeRecord record;
    record.node = std::make_shared<const model::Node>(std::move(node));
    record.claim = managed ? ClaimBuilder("claim").condition("Registered").build() : nullptr;
    return StuckNodes({}, at(0), minutes(15)).is_given_up(record);
  };
  using enum model::ConditionStatus;
  EXPECT_FALSE(is_given_up(False, 59));
  EXPECT_TRUE(is_given_up(False, 60));
  EXPECT_TRUE(is_given_up(Unknown, 60));
  EXPECT_FALSE(is_given_up(False, -3600)) << "a machine's clock is ahead";
  EXPECT_FALSE(is_given_up(True, 3600));
  EXPECT_FALSE(is_given_up(False, 3600, false)) << "its taint says so";
}

}  // namespace
}  // namespace millwright::controllers
