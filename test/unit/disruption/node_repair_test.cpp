// Broken nodes: since when, how many are too many, and which budgets hold a repair back.
#include "millwright/disruption/node_repair.hpp"

#include "cluster_builder.hpp"

#include <array>

namespace millwright::disruption {
namespace {

using model::ConditionStatus;
using std::chrono::minutes;

constexpr std::array<model::RepairPolicy, 3> kPolicies{{
    {"Ready", ConditionStatus::False, minutes(30)},
    {"Ready", ConditionStatus::Unknown, minutes(30)},
    {"DiskGood", ConditionStatus::False, minutes(10)},
}};

model::Node node_with(std::vector<model::Condition> conditions) {
  model::Node node;
  node.meta.creation_timestamp = kLongAgo;
  node.conditions = std::move(conditions);
  return node;
}

// "Ready" and so many minutes from kNow, or "well".
std::string ailment_of(std::vector<model::Condition> conditions) {
  const auto ailment = find_ailment(node_with(std::move(conditions)), kPolicies);
  return ailment
             ? ailment->condition + " " +
                   std::to_string(std::chrono::duration_cast<minutes>(ailment->due - kNow).count())
             : "well";
}

model::Condition state(std::string type, ConditionStatus status,
                       std::optional<base::TimePoint> since = kNow) {
  return {.type = std::move(type), .status = status, .last_transition_time = since};
}

TEST(NodeRepair, IsDueWhenTheConditionsTolerationIsOver) {
  EXPECT_EQ(ailment_of({}), "well");
  EXPECT_EQ(ailment_of({state("Ready", ConditionStatus::True)}), "well");
  EXPECT_EQ(ailment_of({state("Ready", ConditionStatus::False)}), "Ready 30");
  EXPECT_EQ(ailment_of({state("Ready", ConditionStatus::Unknown, kNow - minutes(40))}),
            "Ready -10");
  EXPECT_EQ(ailment_of({state("DiskGood", ConditionStatus::False)}), "DiskGood 10");
  EXPECT_EQ(ailment_of({state("DiskGood", ConditionStatus::Unknown)}), "well")
      << "no policy has that status";
  EXPECT_EQ(ailment_of({state("Elsewhere", ConditionStatus::False)}), "well")
      << "no policy has that type";
}

TEST(NodeRepair, TakesTheConditionThatIsDueFirst) {
  EXPECT_EQ(ailment_of({state("Ready", ConditionStatus::False),
                        state("DiskGood", ConditionStatus::False)}),
            "DiskGood 10");
  EXPECT_EQ(ailment_of({state("Ready", ConditionStatus::False, kNow - minutes(25)),
                        state("DiskGood", ConditionStatus::False)}),
            "Ready 5");
}

// A node writes its own conditions.
TEST(NodeRepair, TakesWhateverTimesAConditionHas) {
  EXPECT_EQ(
      ailment_of({state("Ready", ConditionStatus::False, std::nullopt)}),
      "Ready " + std::to_string(std::chrono::duration_cast<minutes>(kLongAgo - kNow).count() + 30))
      << "counts from the node's creation";
  EXPECT_EQ(ailment_of({state("Ready", ConditionStatus::False, base::TimePoint::max())}), "well");
}

TEST(NodeRepair, ToleratesAFifthRoundedUp) {
  struct Case {
    std::size_t nodes;
    std::size_t most_broken;
  };
  for (const auto& test : {Case{1, 1}, Case{3, 1}, Case{5, 1}, Case{6, 2}, Case{10, 2}, Case{11, 3},
                           Case{1000, 200}}) {
    EXPECT_FALSE((HealthCount{test.nodes, test.most_broken}.too_many_broken())) << test.nodes;
    EXPECT_TRUE((HealthCount{test.nodes, test.most_broken + 1}.too_many_broken())) << test.nodes;
  }
  EXPECT_FALSE(HealthCount{}.too_many_broken());
}

void break_node(Cluster& cluster, const std::string& name) {
  cluster.node(name).node->conditions = {state("Ready", ConditionStatus::Unknown)};
}

TEST(NodeRepair, CountsByPoolAndForTheWholeCluster) {
  Cluster cluster;
  cluster.add_pool(node_pool("other"), {instance_type("medium", 4, 2)});
  for (const auto* name : {"a", "b", "c"}) {
    cluster.add_node(name);
  }
  cluster.add_node("d", {}, {.pool = "other"});
  cluster.add_node("standalone");
  cluster.node("standalone").node->meta.labels.erase(std::string(model::kNodePoolLabel));
  cluster.node("standalone").claim->meta.labels.erase(std::string(model::kNodePoolLabel));
  for (const auto* name : {"a", "d", "standalone"}) {
    break_node(cluster, name);
  }
  const NodeHealth health(*cluster.input().snapshot, kPolicies);
  EXPECT_EQ(health.of_pool("pool").nodes, 3U);
  EXPECT_EQ(health.of_pool("pool").broken, 1U) << "however short a time for";
  EXPECT_EQ(health.of_pool("other").broken, 1U);
  EXPECT_EQ(health.of_pool("gone").nodes, 0U);
  EXPECT_EQ(health.of_cluster().nodes, 5U);
  EXPECT_EQ(health.of_cluster().broken, 3U);
}

TEST(NodeRepair, KeepsToBudgetsOnlyWhereAsked) {
  auto pool = node_pool("pool");
  EXPECT_FALSE(repairs_within_budgets(*pool));
  auto& asked = pool->meta.annotations[std::string(model::kRepairWithinBudgetsAnnotation)];
  EXPECT_FALSE(repairs_within_budgets(*pool)) << "an empty annotation asks for nothing";
  asked = "false";
  EXPECT_FALSE(repairs_within_budgets(*pool));
  asked = "true";
  EXPECT_TRUE(repairs_within_budgets(*pool));
  asked = "yes";
  EXPECT_TRUE(repairs_within_budgets(*pool)) << "what it means is clear enough";
}

// Whether n0 of ten nodes, of which three are broken, may go.
bool allowed_by(std::vector<model::DisruptionBudget> budgets, int going) {
  Cluster cluster;
  for (int i = 0; i < 10; ++i) {
    cluster.add_node("n" + std::to_string(i));
  }
  for (const auto* name : {"n0", "n1", "n2"}) {
    break_node(cluster, name);
  }
  for (int i = 1; i <= going; ++i) {
    cluster.node("n" + std::to_string(i)).record->marked_for_deletion = true;
  }
  cluster.pool().budgets = std::move(budgets);
  const auto input = cluster.input();
  return budgets_allow_repair(*input.snapshot->node_pools[0], *input.snapshot,
                              *input.snapshot->nodes[0], kNow);
}

TEST(NodeRepair, BudgetsCountWhatIsGoingAndNotWhatIsBroken) {
  EXPECT_TRUE(allowed_by({}, 5));
  EXPECT_TRUE(allowed_by({{.nodes = "1"}}, 0)) << "the other broken nodes use nothing up";
  EXPECT_FALSE(allowed_by({{.nodes = "1"}}, 1));
  EXPECT_TRUE(allowed_by({{.nodes = "20%"}}, 1));
  EXPECT_FALSE(allowed_by({{.nodes = "20%"}}, 2));
  EXPECT_FALSE(allowed_by({{.nodes = "0"}}, 0));
  EXPECT_FALSE(allowed_by({{.nodes = "some"}}, 0)) << "an unreadable budget allows nothing";
}

TEST(NodeRepair, BudgetsForAllReasonsCountWhileTheyAreActive) {
  EXPECT_TRUE(allowed_by({{.nodes = "0", .reasons = {"Empty", "Drifted", "Underutilized"}}}, 0));
  EXPECT_FALSE(allowed_by({{.nodes = "0", .schedule = "0 9 * * *", .duration = "8h"}}, 0));
  EXPECT_TRUE(allowed_by({{.nodes = "0", .schedule = "0 15 * * *", .duration = "8h"}}, 0));
}

}  // namespace
}  // namespace millwright::disruption
