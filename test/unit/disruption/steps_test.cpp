// In which order the nodes of one command go.
#include "millwright/disruption/steps.hpp"

#include "consolidation_cases.hpp"

namespace millwright::disruption {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Step> steps_when_all_go(const Cluster& cluster,
                                    const std::vector<std::string>& claims) {
  const auto input = cluster.input();
  Survey survey(input, {});
  return what_holds(removal_of(survey, claims), input).steps;
}

// Two nodes of one pod each, and room for both pods on a third. `first` and `second` may be of one
// controller.
Cluster two_for_the_keeper(std::shared_ptr<model::Pod> first, std::shared_ptr<model::Pod> second) {
  Cluster cluster;
  cluster.add_node("a", {std::move(first)});
  cluster.add_node("b", {std::move(second)});
  add_keeper(cluster, "keeper", 1000, {.type = "large"});
  return cluster;
}

TEST(Steps, NodesWhosePodsHaveRoomWaitForNoReplacement) {
  const auto cluster = room_for_one_of_two();
  const auto command = only_command(cluster);
  ASSERT_THAT(command.claims, ElementsAre("large-claim", "m1-claim", "m2-claim"));
  EXPECT_THAT(command.steps, IsEmpty()) << "for the check to say";
  const auto steps = what_holds(command, cluster.input()).steps;
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_THAT(steps[0].claims, ElementsAre("m1-claim", "m2-claim"));
  EXPECT_THAT(steps[0].replacements, IsEmpty());
  EXPECT_DOUBLE_EQ(steps[0].savings, 4);
  EXPECT_THAT(steps[1].claims, ElementsAre("large-claim"));
  EXPECT_THAT(steps[1].replacements, ElementsAre(0));
  EXPECT_DOUBLE_EQ(steps[1].savings, 4 - 2.5);
}

TEST(Steps, NodesThatShareAReplacementGoTogether) {
  Cluster cluster;
  cluster.add_node("a", {pod("p1", 900)});
  cluster.add_node("b", {pod("p2", 900)});
  const auto steps = steps_when_all_go(cluster, {"a-claim", "b-claim"});
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_THAT(steps[0].claims, ElementsAre("a-claim", "b-claim"));
  EXPECT_THAT(steps[0].replacements, ElementsAre(0));
}

TEST(Steps, EvictNoMoreThanADisruptionBudgetAllows) {
  const auto with_app = [](const char* name) {
    auto result = pod(name);
    result->meta.labels["app"] = "web";
    return result;
  };
  auto cluster = two_for_the_keeper(with_app("p1"), with_app("p2"));
  EXPECT_THAT(steps_when_all_go(cluster, {"a-claim", "b-claim"}), SizeIs(1));
  cluster.add_budget("web", "web", 1);
  const auto steps = steps_when_all_go(cluster, {"a-claim", "b-claim"});
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_THAT(steps[0].claims, ElementsAre("a-claim"));
  EXPECT_THAT(steps[1].claims, ElementsAre("b-claim"));
}

TEST(Steps, NeverTakeAllThatRunOfAController) {
  auto cluster = two_for_the_keeper(replica("web", "w1"), replica("web", "w2"));
  EXPECT_THAT(steps_when_all_go(cluster, {"a-claim", "b-claim"}), SizeIs(2));
  cluster.node("keeper").record->pods.push_back(replica("web", "w3"));
  EXPECT_THAT(steps_when_all_go(cluster, {"a-claim", "b-claim"}), SizeIs(1)) << "one runs on";
  cluster.node("keeper").record->pods.pop_back();
  auto failing = replica("web", "w3");
  failing->status.conditions = {{.type = "Ready", .status = model::ConditionStatus::False}};
  cluster.node("keeper").record->pods.push_back(failing);
  EXPECT_THAT(steps_when_all_go(cluster, {"a-claim", "b-claim"}), SizeIs(2)) << "it serves nobody";
}

TEST(Steps, PodsOfAJobDoNotStandInForEachOther) {
  auto first = replica("work", "w1");
  auto second = replica("work", "w2");
  for (const auto& each : {first, second}) {
    each->meta.owner_references.front().kind = "Job";
    each->status.start_time = kNow;
  }
  const auto cluster = two_for_the_keeper(first, second);
  EXPECT_THAT(steps_when_all_go(cluster, {"a-claim", "b-claim"}), SizeIs(1));
}

// Each pod has to go to the other zone, for its size. So the one that goes first would be the
// second of its kind there.
TEST(Steps, WhatIsNotProvedByItselfGoesWithTheRest) {
  const auto make = [](bool spread) {
    Cluster cluster;
    auto large = replica("web", "large", 3000);
    auto small = replica("web", "small", 1000);
    for (const auto& each : {large, small}) {
      each->meta.labels["app"] = "web";
      if (spread) {
        each->spec.topology_spread.push_back(
            {.max_skew = 1,
             .topology_key = std::string(model::kZoneLabel),
             .when_unsatisfiable = "DoNotSchedule",
             .label_selector = model::LabelSelector{{{"app", "web"}}, {}}});
      }
    }
    cluster.add_node("a", {large}, {.zone = "a"});
    cluster.add_node("b", {small}, {.zone = "b"});
    add_keeper(cluster, "keeper-a", 3000, {.zone = "a"});
    add_keeper(cluster, "keeper-b", 1000, {.zone = "b"});
    return cluster;
  };
  EXPECT_THAT(steps_when_all_go(make(false), {"a-claim", "b-claim"}), SizeIs(2));
  EXPECT_THAT(steps_when_all_go(make(true), {"a-claim", "b-claim"}), SizeIs(1));
}

TEST(Steps, AStepThatSavesLessThanItsPoolAsksForWaitsForTheNext) {
  auto cluster = two_for_the_keeper(replica("web", "w1"), replica("web", "w2"));
  annotate(cluster, model::kMinSavingsAnnotation, "$3");
  EXPECT_THAT(steps_when_all_go(cluster, {"a-claim", "b-claim"}), SizeIs(1));
}

TEST(Steps, ABalancedPoolWasAskedAboutTheWhole) {
  auto cluster = two_for_the_keeper(replica("web", "w1"), replica("web", "w2"));
  cluster.pool().consolidation_policy = "Balanced";
  EXPECT_THAT(steps_when_all_go(cluster, {"a-claim", "b-claim"}), SizeIs(1));
}

TEST(Steps, EmptyNodesGoInOne) {
  Cluster cluster;
  cluster.add_node("a");
  cluster.add_node("b");
  const auto steps = what_holds(only_command(cluster), cluster.input()).steps;
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_THAT(steps[0].claims, ElementsAre("a-claim", "b-claim"));
}

// The step of "b" after that of "a".
bool may_go_on(const Cluster& cluster) {
  return may_be_drained(*cluster.input().snapshot, {"b-claim"}, {"a-claim"}, cluster.now);
}

TEST(NextStep, WaitsForABudgetThatIsUsedUp) {
  auto cluster = two_for_the_keeper(pod("p1"), pod("p2"));
  auto& budget = cluster.add_budget("p2", "p2", 0);
  EXPECT_FALSE(may_go_on(cluster));
  budget.disruptions_allowed = 1;
  EXPECT_TRUE(may_go_on(cluster));
}

TEST(NextStep, WaitsForEvictionsOfItsBudgetsThatAreStillToCome) {
  auto cluster = two_for_the_keeper(pod("p1"), pod("p2"));
  cluster.add_budget("both", "web", 1);
  for (const auto* node : {"a", "b"}) {
    auto changed = std::make_shared<model::Pod>(*cluster.node(node).record->pods.front());
    changed->meta.labels["app"] = "web";
    cluster.node(node).record->pods = {changed};
  }
  EXPECT_FALSE(may_go_on(cluster));
  auto evicted = std::make_shared<model::Pod>(*cluster.node("a").record->pods.front());
  evicted->meta.deletion_timestamp = kNow;
  cluster.node("a").record->pods = {evicted};
  EXPECT_TRUE(may_go_on(cluster));
}

TEST(NextStep, WaitsUntilASuccessorOfItsPodsRuns) {
  auto cluster = two_for_the_keeper(replica("web", "w1"), replica("web", "w2"));
  EXPECT_FALSE(may_go_on(cluster)) << "the node of w1 is being drained";
  cluster.node("a").record->pods.clear();
  EXPECT_TRUE(may_go_on(cluster)) << "the only one that there is";
  auto successor = replica("web", "w3");
  successor->status.phase = "Pending";
  cluster.add_pending(successor);
  EXPECT_FALSE(may_go_on(cluster));
  auto running = replica("web", "w4");
  cluster.node("keeper").record->pods.push_back(running);
  EXPECT_TRUE(may_go_on(cluster));
}

// Its controller was denied a successor of w1 for so long that nobody expects it any more.
TEST(NextStep, WaitsForASuccessorThatMayComeLater) {
  auto cluster = two_for_the_keeper(replica("web", "w1"), replica("web", "w2"));
  cluster.node("a").record->pods.clear();
  auto snapshot = *cluster.input().snapshot;
  const auto& last = snapshot.nodes.at(1)->pods.at(0);
  ASSERT_EQ(last->meta.name, "w2");
  snapshot.demand.push_back({.group = scheduling::group_of(*last), .later = 1, .sample = last});
  EXPECT_FALSE(may_be_drained(snapshot, {"b-claim"}, {"a-claim"}, cluster.now));
}

TEST(NextStep, CountsPodsOnNodesWhoseTurnHasNotCome) {
  auto cluster = two_for_the_keeper(replica("web", "w1"), replica("web", "w2"));
  cluster.add_node("c", {replica("web", "w3")}).record->marked_for_deletion = true;
  EXPECT_TRUE(may_go_on(cluster));
  cluster.node("c").claim->meta.deletion_timestamp = kNow;
  EXPECT_FALSE(may_go_on(cluster));
}

TEST(NextStep, WaitsForAPodThatIsProtectedByNow) {
  auto protected_pod = pod("p2");
  protected_pod->meta.annotations[kKeep] = "true";
  EXPECT_FALSE(may_go_on(two_for_the_keeper(pod("p1"), protected_pod)));
}

}  // namespace
}  // namespace millwright::disruption
