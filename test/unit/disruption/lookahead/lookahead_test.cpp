#include "disruption/methods/lookahead.hpp"

#include "../consolidation_cases.hpp"

namespace millwright::disruption {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(LookAhead, ThinksOfWhatIsLeftForTheNextStep) {
  const auto input = room_for_one_of_two().input();
  Survey survey(input, {});
  const auto large = removal_of(survey, {"large-claim"});
  const auto both = removal_of(survey, {"m1-claim", "m2-claim"});
  const auto chosen = begin_best_course(survey, {large, both});
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->claims, ElementsAre("large-claim", "m1-claim", "m2-claim")) << "joined";
  EXPECT_THAT(chosen->replacements, SizeIs(1));
  EXPECT_DOUBLE_EQ(chosen->savings, 8 - 2.5);
}

// One pass of the planner buys one "sixteen" for all twelve pods, and a cheaper plan for them has
// two nodes.
TEST(LookAhead, ThreeHalfFullNodesBecomeOneFullAndOneOfHalfTheSize) {
  Cluster cluster;
  cluster.set_types("pool", {instance_type("four", 4, 2), instance_type("eight", 8, 4),
                             instance_type("sixteen", 16, 8)});
  for (const std::string name : {"a", "b", "c"}) {
    std::vector<std::shared_ptr<model::Pod>> pods;
    for (const auto* number : {"1", "2", "3", "4"}) {
      pods.push_back(pod(name + number));
    }
    cluster.add_node(name, std::move(pods), {.type = "eight"});
  }
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, SizeIs(2));
  ASSERT_THAT(command.replacements, SizeIs(1));
  EXPECT_THAT(command.replacements[0].instance_types, ElementsAre("four"));
  EXPECT_DOUBLE_EQ(command.savings, 12 - 6);
  EXPECT_TRUE(still_valid(command, cluster.input()));
}

TEST(LookAhead, IsGivenUpWhenTheDecisionHasTakenLongAlready) {
  const auto input = room_for_one_of_two().input();
  Survey survey(input, {});
  const auto large = removal_of(survey, {"large-claim"});
  survey.work().spend(most_work(*input.snapshot));
  const auto chosen = begin_best_course(survey, {large});
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->claims, ElementsAre("large-claim"));
}

// What it would come to is not known then, but it is no dearer than by Karpenter's rules.
TEST(LookAhead, BeginsAsKarpenterWhereThatCannotBePlayedToItsEnd) {
  const auto input = room_for_one_of_two().input();
  Survey one(input, {});
  const auto before = one.work().spent();
  const auto karpenters = consolidate_as_karpenter(one);
  ASSERT_TRUE(karpenters);
  const auto needed = one.work().spent() - before;

  Survey survey(input, {});
  const auto single = removal_of(survey, {"m1-claim"});
  ASSERT_NE(single.claims, karpenters->claims);
  survey.work().spend(most_work(*input.snapshot) - survey.work().spent() - needed - 1);
  const auto chosen = begin_best_course(survey, {single});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->claims, karpenters->claims);
  EXPECT_TRUE(still_valid(*chosen, input));
}

// Units of work that one simulation takes, in a cluster of so many pods.
std::size_t work_of_a_simulation(int pods, bool with_rules) {
  Cluster cluster;
  std::vector<std::shared_ptr<model::Pod>> others;
  for (int i = 0; i < pods; ++i) {
    others.push_back(pod("other-" + std::to_string(i), 1));
  }
  cluster.add_node("others", std::move(others), {.type = "large"});
  auto moving = pod("moving");
  if (with_rules) {
    moving->spec.topology_spread.push_back({.max_skew = 1,
                                            .topology_key = std::string(model::kZoneLabel),
                                            .when_unsatisfiable = "DoNotSchedule",
                                            .label_selector = {}});
  }
  cluster.add_node("n", {moving});
  const auto input = cluster.input();
  Survey survey(input, {});
  const auto before = survey.work().spent();
  const auto* candidate = survey.find("n-claim");
  simulate_removal(survey, Candidates(&candidate, 1), Reason::Underutilized);
  return survey.work().spent() - before;
}

TEST(LookAhead, ChargesALargeClusterForCountingAllItsPods) {
  EXPECT_EQ(work_of_a_simulation(900, true), work_of_a_simulation(900, false));
  EXPECT_EQ(work_of_a_simulation(1500, true), work_of_a_simulation(1500, false) + 501);
}

TEST(LookAhead, DoesNothingWithoutACommand) {
  const auto input = room_for_one_of_two().input();
  Survey survey(input, {});
  const auto before = survey.work().spent();
  EXPECT_FALSE(begin_best_course(survey, {}));
  EXPECT_EQ(survey.work().spent(), before);
}

// Three steps, of which the first is given.
TEST(LookAhead, JoinsTheStepsOfACourse) {
  Cluster cluster;
  for (const auto* name : {"a", "b", "c"}) {
    cluster.add_node(name, {pod(name + std::string("-pod"))});
  }
  add_keeper(cluster, "keeper", 1000, {.type = "large"});
  const auto input = cluster.input();
  Survey survey(input, {});
  const auto chosen = begin_best_course(survey, {removal_of(survey, {"b-claim"})});
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->claims, UnorderedElementsAre("a-claim", "b-claim", "c-claim"));
  EXPECT_TRUE(still_valid(*chosen, input));
}

// Karpenter's rules end with one node of six pods: no single type would be cheaper for them. Two
// smaller nodes are.
TEST(LookAhead, GoesOnWithSeveralNewNodesWhereKarpentersRulesEnd) {
  Cluster cluster;
  cluster.set_types("pool", {instance_type("two", 2, 1), instance_type("four", 4, 2),
                             instance_type("eight", 8, 4)});
  for (const std::string name : {"a", "b"}) {
    cluster.add_node(name, {pod(name + "1"), pod(name + "2"), pod(name + "3")}, {.type = "eight"});
  }
  const auto input = cluster.input();
  Survey survey(input, {});
  const auto chosen = begin_best_course(survey, {removal_of(survey, {"a-claim"})});
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->claims, ElementsAre("a-claim", "b-claim")) << "joined";
  EXPECT_THAT(chosen->replacements, SizeIs(2));
  EXPECT_DOUBLE_EQ(chosen->savings, 8 - 3);
  EXPECT_TRUE(still_valid(*chosen, input));
}

TEST(LookAhead, JoinsNoMoreThanBudgetsLetGo) {
  Cluster cluster;
  cluster.pool().budgets = {{.nodes = "2"}};
  for (const auto* name : {"a", "b", "c"}) {
    cluster.add_node(name, {pod(name + std::string("-pod"))});
  }
  add_keeper(cluster, "keeper", 1000, {.type = "large"});
  const auto input = cluster.input();
  Survey survey(input, {});
  const auto chosen = begin_best_course(survey, {removal_of(survey, {"b-claim"})});
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->claims, SizeIs(2));
}

}  // namespace
}  // namespace millwright::disruption
