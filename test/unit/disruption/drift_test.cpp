#include "cluster_builder.hpp"
#include "disruption/simulation/simulation.hpp"

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void drift(Member& member, base::TimePoint since = kLongAgo) {
  member.claim->conditions.push_back({.type = "Drifted",
                                      .status = model::ConditionStatus::True,
                                      .reason = "NodePoolDrifted",
                                      .last_transition_time = since});
}

// Consolidation would act on the same nodes; drift does not need it.
Cluster quiet_cluster() {
  Cluster cluster;
  cluster.pool().consolidate_after.text = "Never";
  return cluster;
}

TEST(Drift, ReplacesADriftedNodeWhateverItCosts) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p")}, {.type = "small"}));
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  const auto& command = decisions.commands[0];
  EXPECT_EQ(command.reason, Reason::Drifted);
  ASSERT_THAT(command.replacements, SizeIs(1));
  EXPECT_THAT(command.replacements[0].instance_types, ElementsAre("small", "medium", "large"));
  EXPECT_DOUBLE_EQ(command.savings, 0);
  EXPECT_EQ(command.summary, "Drifted: replace node a (small) by small");
}

TEST(Drift, RemovesANodeWhosePodsFitElsewhere) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p")}));
  cluster.add_node("b", {pod("q")});
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  EXPECT_TRUE(decisions.commands[0].replacements.empty());
}

TEST(Drift, BuysNothingForPodsThatNobodyCreatesAgain) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {bare_pod("p")}));
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  EXPECT_TRUE(decisions.commands[0].replacements.empty());
}

TEST(Drift, MayNeedSeveralReplacements) {
  auto cluster = quiet_cluster();
  auto here = pod("p");
  here->spec.node_selector[std::string(model::kZoneLabel)] = "a";
  auto there = pod("q");
  there->spec.node_selector[std::string(model::kZoneLabel)] = "b";
  drift(cluster.add_node("n", {here, there}));
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1));
  EXPECT_THAT(decisions.commands[0].replacements, SizeIs(2));
  EXPECT_THAT(decisions.commands[0].placements, SizeIs(2));
}

TEST(Drift, TakesNodesWithoutPodsFirstThenTheLongestDrifted) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p")}), kNow - hours(1));
  drift(cluster.add_node("b", {pod("q")}), kNow - hours(3));
  drift(cluster.add_node("c"), kNow - minutes(1));
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("c-claim"));
  cluster.busy = {"c-claim"};
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("b-claim"));
}

TEST(Drift, PassesOverANodeThatCannotBeReplaced) {
  auto cluster = quiet_cluster();
  auto stuck = pod("p");
  stuck->spec.node_selector[std::string(model::kHostnameLabel)] = "a";
  drift(cluster.add_node("a", {stuck}), kNow - hours(3));
  drift(cluster.add_node("b", {pod("q")}), kNow - hours(1));
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("b-claim"));
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("Pod default/p would find no place"));
}

// In a busy cluster there is always one. What it needs is bought for it without this command.
TEST(Drift, DoesNotWaitForPodsThatNeedNewCapacity) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p")}));
  cluster.add_pending(pod("new"));
  cluster.add_pending(pod("large", 7000));
  auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1)) << cluster.why_not("a");
  const auto& command = decisions.commands[0];
  ASSERT_THAT(command.replacements, SizeIs(1));
  EXPECT_THAT(command.replacements[0].pod_uids, ElementsAre("uid-p"));
  EXPECT_THAT(command.placements, SizeIs(1));
  EXPECT_EQ(std::get<std::size_t>(command.placements[0].target), 0U);
  EXPECT_TRUE(still_valid(command, cluster.input()));
}

TEST(Drift, CountsOnNoRoomThatAPodWaitsFor) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p", 1500)}));
  cluster.add_node("b", {pod("q", 2000)});
  EXPECT_THAT(cluster.decide().commands.at(0).replacements, SizeIs(0));
  auto waiting = pod("new", 2000);
  waiting->spec.node_selector[std::string(model::kHostnameLabel)] = "b";
  cluster.add_pending(waiting);
  cluster.add_pending(pod("larger", 3000));
  EXPECT_THAT(cluster.decide().commands.at(0).replacements, SizeIs(1));
}

TEST(Drift, ReplacesANodeOfAPoolThatHasReachedItsLimits) {
  auto cluster = quiet_cluster();
  cluster.pool().limits = model::ResourceList{{"cpu", model::Quantity::from_units(4)},
                                              {"nodes", model::Quantity::from_units(1)}};
  drift(cluster.add_node("a", {pod("p")}));
  auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1)) << cluster.why_not("a");
  ASSERT_THAT(decisions.commands[0].replacements, SizeIs(1));
  EXPECT_THAT(decisions.commands[0].replacements[0].instance_types, ElementsAre("small", "medium"));
  EXPECT_TRUE(still_valid(decisions.commands[0], cluster.input()));
  // What others wait for may not be bought, so it keeps no node either.
  cluster.add_pending(pod("large", 3500));
  decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1)) << cluster.why_not("a");
  EXPECT_THAT(decisions.commands[0].replacements.at(0).pod_uids, ElementsAre("uid-p"));
}

// Each of them would be bought for once the one before it is left out.
TEST(Drift, PlansTwiceHoweverManyPodsWaitAtTheLimits) {
  auto cluster = quiet_cluster();
  cluster.pool().limits = model::ResourceList{{"cpu", model::Quantity::from_units(4)}};
  drift(cluster.add_node("a", {pod("p")}));
  const auto input_with = [&](int pods) {
    for (int i = 0; i < pods; ++i) {
      cluster.add_pending(pod("large-" + std::to_string(i), 3500));
    }
    return cluster.input();
  };
  const auto work_of = [](const Input& input) {
    Survey survey(input, {});
    const auto before = survey.work().spent();
    const Candidate* const candidate = survey.find("a-claim");
    const auto removal = simulate_removal(survey, Candidates(&candidate, 1), Reason::Drifted);
    EXPECT_FALSE(removal.problem) << removal.problem->message;
    EXPECT_THAT(removal.claims, SizeIs(1));
    return survey.work().spent() - before;
  };
  const auto for_one_plan = work_of(input_with(0));
  const auto waiting = 20;
  const auto for_all = work_of(input_with(waiting));
  EXPECT_GT(for_all, for_one_plan + waiting) << "each plan counts";
  EXPECT_LE(for_all, 2 * (for_one_plan + waiting));
}

TEST(Drift, ReplacesOneNodeAtATimeWhereTheLimitsAreReached) {
  auto cluster = quiet_cluster();
  cluster.pool().limits = model::ResourceList{{"nodes", model::Quantity::from_units(2)}};
  drift(cluster.add_node("a"), kNow - hours(1));
  drift(cluster.add_node("b", {pod("q", 3000)}));
  cluster.add_node("replaces-a", {pod("p", 3000)});
  cluster.node("a").record->marked_for_deletion = true;
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("b"), HasSubstr("limits.nodes"));
  cluster.node("a").claim->meta.deletion_timestamp = kNow;
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("b-claim"));
}

// A pod that nothing can be done for would end all drift and consolidation.
TEST(Drift, OfANodeDoesNotWaitForPodsThatHaveNoPlaceWhereverTheyAre) {
  for (const bool drifted : {true, false}) {
    Cluster cluster;
    auto stuck = pod("stuck");
    stuck->spec.node_selector[std::string(model::kHostnameLabel)] = "gone";
    cluster.add_node("gone", {stuck}).record->marked_for_deletion = true;
    auto& node = cluster.add_node("a", {pod("p")}, {.type = "large"});
    if (drifted) {
      drift(node);
    }
    EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim")) << cluster.why_not("a");
  }
}

// Both fit on "b" by themselves, and nothing is on sale. The planner gives "b" to the larger one.
TEST(Drift, LeavesItsPlaceToAPodOfANodeThatIsGoing) {
  auto cluster = quiet_cluster();
  cluster.pool().limits = model::ResourceList{{"nodes", model::Quantity::from_units(0)}};
  drift(cluster.add_node("a", {pod("p", 2500)}));
  cluster.add_node("b", {pod("q", 1000)});
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim"));
  cluster.add_node("gone", {pod("leaves", 2000)}).record->marked_for_deletion = true;
  EXPECT_THAT(claims_of(cluster.decide()), IsEmpty());
}

TEST(Drift, DoesNotWaitForANodeThatNeverComesUp) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p")}));
  begin_to_start(cluster.add_node("stuck"), kNow - minutes(5));
  EXPECT_THAT(claims_of(cluster.decide()), IsEmpty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("not initialized yet"));
  begin_to_start(cluster.node("stuck"), kNow - minutes(15));
  EXPECT_THAT(cluster.decide().commands.at(0).replacements, SizeIs(1));
  for (const auto* other : {"stuck-2", "stuck-3"}) {
    begin_to_start(cluster.add_node(other), kNow - minutes(20));
  }
  EXPECT_THAT(cluster.decide().commands.at(0).replacements, SizeIs(1)) << "however many they are";
}

TEST(Drift, KeepsToItsBudgets) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p")}));
  cluster.pool().budgets = {{.nodes = "0", .reasons = {"Drifted"}}};
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("allow no further Drifted node"));
  cluster.pool().budgets = {{.nodes = "0", .reasons = {"Empty", "Underutilized"}}};
  EXPECT_THAT(cluster.decide().commands, SizeIs(1));
}

TEST(Drift, OverridesPodsOnlyWithATerminationGracePeriod) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p")}));
  cluster.add_budget("pdb", "p", 0);
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("PodDisruptionBudget default/pdb"));
  cluster.node("a").claim->termination_grace_period.text = "1h";
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim"));
}

// They stay until the end of the grace period, and their successors are bought for then.
TEST(Drift, BuysNothingForPodsThatDoNotMove) {
  auto cluster = quiet_cluster();
  auto kept = pod("kept");
  kept->meta.annotations[std::string(model::kDoNotDisruptAnnotation)] = "true";
  drift(cluster.add_node("a", {kept, pod("blocked"), pod("free")}));
  cluster.node("a").claim->termination_grace_period.text = "1h";
  cluster.add_budget("none", "blocked", 0).max_unavailable = "0";
  const auto command = cluster.decide().commands.at(0);
  EXPECT_THAT(command.replacements.at(0).pod_uids, ElementsAre("uid-free"));
  EXPECT_TRUE(still_valid(command, cluster.input()));
  cluster.node("a").record->pods.pop_back();
  EXPECT_THAT(cluster.decide().commands.at(0).replacements, IsEmpty());
}

TEST(Drift, ATerminationGracePeriodDoesNotOpenTheWayToConsolidation) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "large"}).claim->termination_grace_period.text = "1h";
  cluster.add_budget("pdb", "p", 0);
  EXPECT_TRUE(cluster.decide().commands.empty());
}

TEST(Drift, StaysValidWhileItIsDriftedAndHasAPlaceForEveryPod) {
  auto cluster = quiet_cluster();
  drift(cluster.add_node("a", {pod("p")}));
  const auto command = cluster.decide().commands.at(0);
  EXPECT_TRUE(still_valid(command, cluster.input()));
  cluster.set_types("pool", {instance_type("medium", 4, 2), instance_type("small", 2, 1)});
  EXPECT_TRUE(still_valid(command, cluster.input())) << "other types will do";
  cluster.set_types("pool", {instance_type("tiny", 1, 1)});
  EXPECT_TRUE(still_valid(command, cluster.input()));
  cluster.node("a").record->pods.push_back(pod("big", 1500));
  EXPECT_FALSE(still_valid(command, cluster.input()));
  cluster.node("a").record->pods.pop_back();
  cluster.node("a").claim->conditions.pop_back();
  EXPECT_FALSE(still_valid(command, cluster.input())) << "not drifted any more";
}

}  // namespace
}  // namespace millwright::disruption
