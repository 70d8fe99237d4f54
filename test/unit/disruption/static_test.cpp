#include "cluster_builder.hpp"
#include "millwright/disruption/static_capacity.hpp"

namespace millwright::disruption {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Cluster static_cluster(std::int64_t replicas) {
  Cluster cluster;
  cluster.pool().replicas = replicas;
  cluster.options.static_capacity = true;
  return cluster;
}

void drift_static_member(Member& member, base::TimePoint since = kLongAgo) {
  member.claim->conditions.push_back({.type = "Drifted",
                                      .status = model::ConditionStatus::True,
                                      .reason = "NodePoolDrifted",
                                      .last_transition_time = since});
}

StaticPlan plan(Cluster& cluster) {
  return plan_static_capacity(cluster.pool(), *cluster.input().snapshot, kNow);
}

std::vector<std::string> removed(const StaticPlan& plan) {
  std::vector<std::string> names;
  for (const auto& record : plan.remove) {
    names.push_back(record->name());
  }
  return names;
}

TEST(StaticCapacity, CreatesWhatIsMissing) {
  auto cluster = static_cluster(3);
  EXPECT_EQ(plan(cluster).create, 3);
  cluster.add_node("a");
  EXPECT_EQ(plan(cluster).create, 2);
  cluster.add_node("b");
  cluster.add_node("c");
  EXPECT_EQ(plan(cluster).create, 0);
  EXPECT_THAT(removed(plan(cluster)), IsEmpty());
}

TEST(StaticCapacity, LeavesDynamicDeletedAndUnreadyPoolsAlone) {
  Cluster dynamic;
  EXPECT_EQ(plan(dynamic).create, 0);
  auto unready = static_cluster(3);
  unready.pool().conditions.clear();
  EXPECT_EQ(plan(unready).create, 0);
  auto deleted = static_cluster(3);
  deleted.pool().meta.deletion_timestamp = kNow;
  EXPECT_EQ(plan(deleted).create, 0);
}

TEST(StaticCapacity, StaysWithinLimitsNodesCountingThoseOnTheirWayOut) {
  auto cluster = static_cluster(5);
  cluster.pool().limits = model::ResourceList{{"nodes", model::Quantity::from_units(3)}};
  cluster.add_node("a");
  cluster.add_node("b").claim->meta.deletion_timestamp = kNow;
  EXPECT_EQ(plan(cluster).create, 1);
  EXPECT_EQ(plan(cluster).withheld, 3);
}

TEST(StaticCapacity, CountsANodeThatIsBeingReplacedUntilItIsGone) {
  auto cluster = static_cluster(2);
  cluster.add_node("a");
  auto& leaving = cluster.add_node("b");
  leaving.claim->conditions.push_back(
      {.type = "DisruptionReason", .status = model::ConditionStatus::True});
  EXPECT_EQ(plan(cluster).create, 0);
  cluster.add_node("replacement");
  EXPECT_EQ(plan(cluster).create, 0);
  EXPECT_THAT(removed(plan(cluster)), IsEmpty());
  leaving.claim->meta.deletion_timestamp = kNow;
  EXPECT_THAT(removed(plan(cluster)), IsEmpty());
}

TEST(StaticCapacity, RemovesUnlaunchedThenEmptyThenCheapToDisruptThenProtectedNodes) {
  auto cluster = static_cluster(4);
  auto keep = pod("kept");
  keep->meta.annotations["karpenter.sh/do-not-disrupt"] = "true";
  cluster.add_node("protected", {keep});
  cluster.add_node("busy", {pod("p"), pod("q")});
  cluster.add_node("quiet", {pod("r")});
  cluster.add_node("empty");
  cluster.add_node("unlaunched").claim->provider_id.clear();
  const std::vector<std::string> order{"unlaunched", "empty", "quiet", "busy", "protected"};
  for (std::int64_t replicas = 4; replicas >= 0; --replicas) {
    cluster.pool().replicas = replicas;
    const auto count = static_cast<std::ptrdiff_t>(5 - replicas);
    EXPECT_EQ(removed(plan(cluster)),
              std::vector<std::string>(order.begin(), order.begin() + count));
  }
}

TEST(StaticCapacity, TakesTheNodeThatIsAboutToExpireFirst) {
  auto cluster = static_cluster(1);
  auto& young = cluster.add_node("a-young", {pod("p")});
  auto& old = cluster.add_node("b-old", {pod("q")});
  for (auto* member : {&young, &old}) {
    member->claim->expire_after.text = "48h";
  }
  young.claim->meta.creation_timestamp = kNow;
  old.claim->meta.creation_timestamp = kNow - std::chrono::hours(47);
  EXPECT_THAT(removed(plan(cluster)), ElementsAre("b-old"));
}

TEST(StaticNodes, AreNeverConsolidated) {
  auto cluster = static_cluster(2);
  cluster.add_node("empty");
  cluster.add_node("used", {pod("p")});
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
  EXPECT_THAT(cluster.why_not("empty"), HasSubstr("keeps a fixed number of nodes"));
}

TEST(StaticDrift, ReplacesOneForOneByTheBareTemplate) {
  auto cluster = static_cluster(2);
  drift_static_member(cluster.add_node("a", {pod("p")}));
  cluster.add_node("b");
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  const auto& command = decisions.commands[0];
  EXPECT_EQ(command.reason, Reason::Drifted);
  EXPECT_THAT(command.claims, ElementsAre("a-claim"));
  ASSERT_THAT(command.replacements, SizeIs(1));
  EXPECT_THAT(command.replacements[0].instance_types, IsEmpty());
  EXPECT_EQ(command.replacements[0].requirements.find(model::kInstanceTypeLabel), nullptr);
  EXPECT_EQ(command.replacements[0].labels.at("karpenter.sh/nodepool"), "pool");
  EXPECT_EQ(command.replacements[0].annotations.at("karpenter.sh/nodepool-hash"),
            model::nodepool_hash(cluster.pool().template_));
  EXPECT_TRUE(still_valid(command, cluster.input()));
}

TEST(StaticDrift, WaitsWithoutTheFeatureGate) {
  auto cluster = static_cluster(1);
  cluster.options.static_capacity = false;
  drift_static_member(cluster.add_node("a"));
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
}

TEST(StaticDrift, TakesAsManyAtOnceAsBudgetsAndLimitsAllow) {
  auto cluster = static_cluster(4);
  for (const auto* name : {"a", "b", "c", "d"}) {
    drift_static_member(cluster.add_node(name));
  }
  EXPECT_THAT(claims_of(cluster.decide()),
              UnorderedElementsAre("a-claim", "b-claim", "c-claim", "d-claim"));
  cluster.pool().limits = model::ResourceList{{"nodes", model::Quantity::from_units(6)}};
  EXPECT_THAT(cluster.decide().commands, SizeIs(2));
  cluster.pool().budgets = {{.nodes = "1"}};
  EXPECT_THAT(cluster.decide().commands, SizeIs(1));
  cluster.pool().limits = model::ResourceList{{"nodes", model::Quantity::from_units(4)}};
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("spec.limits.nodes"));
}

TEST(StaticDrift, WaitsWhileThePoolHasTooManyOrAnotherIsBeingReplaced) {
  auto cluster = static_cluster(2);
  drift_static_member(cluster.add_node("a"));
  drift_static_member(cluster.add_node("b"));
  cluster.busy = {"b-claim"};
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("is being replaced"));
  cluster.busy.clear();
  cluster.pool().replicas = 1;
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
}

TEST(StaticDrift, IsNoLongerValidWhenTheLimitWasReachedMeanwhile) {
  auto cluster = static_cluster(1);
  drift_static_member(cluster.add_node("a"));
  const auto command = cluster.decide().commands.at(0);
  cluster.pool().limits = model::ResourceList{{"nodes", model::Quantity::from_units(1)}};
  EXPECT_FALSE(still_valid(command, cluster.input()));
}

}  // namespace
}  // namespace millwright::disruption
