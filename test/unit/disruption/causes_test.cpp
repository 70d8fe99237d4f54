// What kind of thing keeps a node, apart from the words: from it follow the event's reason and
// what counts as the same news.
#include "consolidation_cases.hpp"

#include <functional>

namespace millwright::disruption {
namespace {

using std::chrono::minutes;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Blocked* blocked(const Decisions& decisions, std::string_view claim) {
  const auto& all = decisions.blocked;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.claim == claim; });
  return found == all.end() ? nullptr : &*found;
}

struct CauseCase {
  const char* name;
  std::function<void(Cluster&)> arrange;  // node "a" of type large, pod "p" on it
  Kept kept;
  Cause cause;
};

void pool_may_buy_spot(Cluster& cluster) {
  cluster.pool().template_.requirements[0].values = {"on-demand", "spot"};
}

// Nothing cheaper than what there is.
void sell_only_large(Cluster& cluster) {
  cluster.set_types("pool", {instance_type("large", 8, 4)});
}

void make_spot(Cluster& cluster) {
  pool_may_buy_spot(cluster);
  for (auto& labels :
       {&cluster.node("a").claim->meta.labels, &cluster.node("a").node->meta.labels}) {
    (*labels)[std::string(model::kCapacityTypeLabel)] = "spot";
  }
}

void drop_label(Cluster& cluster, std::string_view key) {
  cluster.node("a").claim->meta.labels.erase(std::string(key));
  cluster.node("a").node->meta.labels.erase(std::string(key));
}

TEST(Causes, SayWhetherDisruptionIsBlockedOrConsolidationDoesNotPay) {
  const std::vector<CauseCase> cases{
      {"starting", [](Cluster& c) { drop_label(c, model::kInitializedLabel); },
       Kept::FromDisruption, Cause::NotInitialized},
      {"two Nodes of a machine", [](Cluster& c) { c.node("a").record->shares_machine = true; },
       Kept::FromDisruption, Cause::SharesMachine},
      {"annotated", [](Cluster& c) { c.node("a").node->meta.annotations[kKeep] = "true"; },
       Kept::FromDisruption, Cause::DoNotDisrupt},
      {"nominated", [](Cluster& c) { c.node("a").record->nominated_until = kNow + minutes(1); },
       Kept::FromDisruption, Cause::Nominated},
      {"in doubt", [](Cluster& c) { c.doubted["a-claim"] = kNow + minutes(1); },
       Kept::FromDisruption, Cause::InDoubt},
      {"failed",
       [](Cluster& c) {
         c.failed["a-claim"] = {kNow + minutes(1), "refused"};
       },
       Kept::FromDisruption, Cause::WriteFailed},
      {"room kept", [](Cluster& c) { c.reserve(*pod("waiting"), "a", kNow + minutes(1)); },
       Kept::FromDisruption, Cause::RoomKept},
      {"its pods' budget", [](Cluster& c) { c.add_budget("pdb", "p", 0); }, Kept::FromDisruption,
       Cause::PodsKeepIt},
      {"no NodePool",
       [](Cluster& c) {
         c.node("a").claim->meta.labels[std::string(model::kNodePoolLabel)] = "gone";
       },
       Kept::FromDisruption, Cause::NoNodePool},
      {"fixed size", [](Cluster& c) { c.pool().replicas = 1; }, Kept::AsWanted, Cause::FixedSize},
      {"within consolidateAfter", [](Cluster& c) { c.pool().consolidate_after.text = "25h"; },
       Kept::AsWanted, Cause::WithinConsolidateAfter},
      {"consolidateAfter Never", [](Cluster& c) { c.pool().consolidate_after.text = "Never"; },
       Kept::FromConsolidation, Cause::ConsolidationOff},
      {"WhenEmpty", [](Cluster& c) { c.pool().consolidation_policy = "WhenEmpty"; },
       Kept::FromConsolidation, Cause::OnlyWhenEmpty},
      {"no capacity type", [](Cluster& c) { drop_label(c, model::kCapacityTypeLabel); },
       Kept::FromConsolidation, Cause::NotPriced},
      {"no zone", [](Cluster& c) { drop_label(c, model::kZoneLabel); }, Kept::FromConsolidation,
       Cause::NotPriced},
      {"a young node",
       [](Cluster& c) {
         annotate(c, model::kMinNodeAgeAnnotation, "1h");
         c.node("a").claim->meta.creation_timestamp = kNow;
       },
       Kept::FromConsolidation, Cause::NodeTooYoung},
      {"a young pod", [](Cluster& c) { annotate(c, model::kMinPodAgeAnnotation, "25h"); },
       Kept::FromConsolidation, Cause::PodsTooYoung},
      {"a full node", [](Cluster& c) { annotate(c, model::kMaxUtilizationAnnotation, "12%"); },
       Kept::FromConsolidation, Cause::TooFull},
      {"too small a saving", [](Cluster& c) { annotate(c, model::kMinSavingsAnnotation, "80%"); },
       Kept::FromConsolidation, Cause::SavesTooLittle},
      {"outside of windows",
       [](Cluster& c) { annotate(c, model::kDisruptionWindowsAnnotation, "0 22 * * * for 1h"); },
       Kept::FromConsolidation, Cause::OutsideWindows},
      {"budget", [](Cluster& c) { c.pool().budgets = {{.nodes = "0"}}; }, Kept::FromConsolidation,
       Cause::Budget},
      {"nothing cheaper", sell_only_large, Kept::FromConsolidation, Cause::NotCheaper},
      {"pods of two zones",
       [](Cluster& c) {
         auto here = pod("p", 2500);
         here->spec.node_selector[std::string(model::kZoneLabel)] = "a";
         auto there = pod("q", 2500);
         there->spec.node_selector[std::string(model::kZoneLabel)] = "b";
         c.node("a").record->pods = {here, there};
       },
       Kept::FromConsolidation, Cause::ManyReplacements},
      {"pods that want this very node",
       [](Cluster& c) {
         auto stuck = pod("p");
         stuck->spec.node_selector[std::string(model::kHostnameLabel)] = "a";
         c.node("a").record->pods = {stuck};
       },
       Kept::FromConsolidation, Cause::PodsHaveNoPlace},
      {"pods of nobody", [](Cluster& c) { c.node("a").record->pods = {bare_pod("p")}; },
       Kept::FromConsolidation, Cause::PodsStayAway},
      {"others wait", [](Cluster& c) { c.add_pending(pod("new")); }, Kept::FromConsolidation,
       Cause::OthersNeedRoom},
      {"spot for spot without its gate", make_spot, Kept::FromConsolidation, Cause::SpotToSpotOff},
      {"spot for spot, few types",
       [](Cluster& c) {
         make_spot(c);
         c.options.spot_to_spot = true;
       },
       Kept::FromConsolidation, Cause::FewSpotTypes},
      {"spot for spot, none cheaper",
       [](Cluster& c) {
         make_spot(c);
         sell_only_large(c);
         c.options.spot_to_spot = true;
       },
       Kept::FromConsolidation, Cause::NotCheaper},
      {"work of a Job",
       [](Cluster& c) {
         auto job = pod("p");
         job->meta.owner_references[0].kind = "Job";
         c.node("a").record->pods = {job};
       },
       Kept::FromConsolidation, Cause::WorkLost},
      {"not worth it",
       [](Cluster& c) {
         c.pool().consolidation_policy = "Balanced";
         c.set_types("pool", {instance_type("large", 8, 4), instance_type("nearly", 8, 3.9)});
       },
       Kept::FromConsolidation, Cause::Unbalanced},
  };
  for (const auto& test : cases) {
    Cluster cluster;
    cluster.add_node("a", {pod("p")}, {.type = "large"});
    test.arrange(cluster);
    const auto decisions = cluster.decide();
    const auto* found = blocked(decisions, "a-claim");
    ASSERT_NE(found, nullptr) << test.name;
    EXPECT_EQ(found->kept, test.kept) << test.name << ": " << found->why.message;
    EXPECT_EQ(found->why.cause, test.cause) << test.name << ": " << found->why.message;
  }
}

TEST(Causes, ADriftedNodeIsKeptFromDisruptionByBudgetsAndByItsPods) {
  Cluster cluster;
  auto stuck = pod("p");
  stuck->spec.node_selector[std::string(model::kHostnameLabel)] = "a";
  cluster.add_node("a", {stuck})
      .claim->conditions.push_back({.type = "Drifted",
                                    .status = model::ConditionStatus::True,
                                    .last_transition_time = kNow});
  auto decisions = cluster.decide();
  ASSERT_NE(blocked(decisions, "a-claim"), nullptr);
  EXPECT_EQ(blocked(decisions, "a-claim")->kept, Kept::FromDisruption);
  EXPECT_EQ(blocked(decisions, "a-claim")->why.cause, Cause::PodsHaveNoPlace);
  EXPECT_THAT(decisions.spent_budgets, IsEmpty());

  cluster.pool().budgets = {{.nodes = "0"}};
  decisions = cluster.decide();
  EXPECT_EQ(blocked(decisions, "a-claim")->kept, Kept::FromDisruption);
  EXPECT_EQ(blocked(decisions, "a-claim")->why.cause, Cause::Budget);
}

TEST(Causes, ASpentBudgetIsNamedOnceForEachReasonThatItKeepsANodeFrom) {
  Cluster cluster;
  cluster.pool().budgets = {{.nodes = "0"}};
  EXPECT_THAT(cluster.decide().spent_budgets, IsEmpty()) << "it keeps nobody";
  for (const auto* name : {"a", "b"}) {
    cluster.add_node(name);
  }
  cluster.add_node("c", {pod("p")}, {.type = "large"});
  EXPECT_THAT(
      cluster.decide().spent_budgets,
      ElementsAre(SpentBudget{"pool", Reason::Empty}, SpentBudget{"pool", Reason::Underutilized}));
}

TEST(Causes, BalancedPoolsTellTheScoreOfEachMoveTheyLookAt) {
  Cluster cluster;
  cluster.add_node("a", {pod("p", 100)}, {.type = "small"});
  add_keeper(cluster, "b", 1000, {.type = "large"});
  EXPECT_THAT(cluster.decide().scores, IsEmpty()) << "another policy";
  cluster.pool().consolidation_policy = "Balanced";
  // A fifth of the cost for 2 of 4 units of disruption: each node and each pod counts one.
  auto scores = cluster.decide().scores;
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].node_pool, "pool");
  EXPECT_THAT(scores[0].claims, ElementsAre("a-claim"));
  EXPECT_THAT(scores[0].value, DoubleNear(0.4, 1e-9));
  EXPECT_FALSE(scores[0].approved);
  cluster.node("b").record->pods.push_back(pod("r", 10));
  scores = cluster.decide().scores;
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_THAT(scores[0].value, DoubleNear(0.5, 1e-9));
  EXPECT_TRUE(scores[0].approved);
}

}  // namespace
}  // namespace millwright::disruption
