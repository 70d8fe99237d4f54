#include "cluster_builder.hpp"

namespace millwright::disruption {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<model::Pod> owned(std::string name, std::string kind) {
  auto result = pod(std::move(name));
  result->meta.owner_references = {
      {.api_version = "apps/v1", .kind = kind, .name = "o", .uid = "o", .controller = true}};
  return result;
}

TEST(Emptiness, CountsOnlyPodsThatMustFindAnotherPlace) {
  struct Case {
    const char* name;
    std::shared_ptr<model::Pod> resident;
    bool empty;
  };
  auto terminating = owned("t", "ReplicaSet");
  terminating->meta.deletion_timestamp = kNow;
  auto stateful = owned("s", "StatefulSet");
  stateful->meta.deletion_timestamp = kNow;
  auto mirror = pod("m");
  mirror->meta.owner_references = {{.api_version = "v1", .kind = "Node", .name = "n", .uid = "n"}};
  auto cheap = pod("c");
  cheap->meta.annotations["controller.kubernetes.io/pod-deletion-cost"] = "-2147483647";
  auto lowest = pod("l");
  lowest->spec.priority = -2'000'000'000;
  auto odd = pod("x");
  odd->meta.annotations["controller.kubernetes.io/pod-deletion-cost"] = "cheap";
  for (const auto& test :
       {Case{"DaemonSet", owned("d", "DaemonSet"), true}, Case{"terminating", terminating, true},
        Case{"terminating StatefulSet", stateful, false}, Case{"mirror", mirror, true},
        Case{"bare pod", pod("b"), false}, Case{"worthless by deletion cost", cheap, false},
        Case{"worthless by priority", lowest, false}, Case{"unreadable cost", odd, false}}) {
    Cluster cluster;
    cluster.pool().consolidation_policy = "WhenEmpty";
    cluster.add_node("a", {test.resident});
    EXPECT_EQ(claims_of(cluster.decide()).size(), test.empty ? 1U : 0U) << test.name;
  }
}

// As those that keep room for others. Without a simulation the node would go, be bought again for
// them, and go again.
TEST(Emptiness, IsNotThatOfANodeWithWorthlessPods) {
  Cluster cluster;
  auto placeholder = pod("placeholder");
  placeholder->spec.priority = -2'000'000'000;
  cluster.add_node("a", {placeholder}, {.type = "small"});
  EXPECT_THAT(claims_of(cluster.decide()), IsEmpty());
  cluster.add_node("b", {pod("p")});
  const auto decisions = cluster.decide();
  ASSERT_THAT(claims_of(decisions), ElementsAre("a-claim"));
  EXPECT_EQ(decisions.commands[0].reason, Reason::Underutilized);
}

TEST(Emptiness, RemovesAllWithinBudgetTheDearestFirst) {
  Cluster cluster;
  cluster.add_node("a", {}, {.type = "small"});
  cluster.add_node("b", {}, {.type = "large"});
  cluster.add_node("c", {}, {.type = "medium"});
  cluster.add_node("d", {}, {.type = "large", .capacity_type = "spot"});
  const auto decisions = cluster.decide();
  ASSERT_THAT(decisions.commands, SizeIs(1)) << "they are checked and carried out together";
  const auto& command = decisions.commands[0];
  EXPECT_THAT(command.claims, ElementsAre("b-claim", "c-claim", "d-claim", "a-claim"));
  EXPECT_EQ(command.reason, Reason::Empty);
  EXPECT_TRUE(command.replacements.empty());
  EXPECT_NEAR(command.savings, 4 + 2 + 4.0 / 3 + 1, 1e-9);
  EXPECT_EQ(command.summary,
            "Empty: remove nodes b (large), c (medium), d (large), a (small), saving $8.33/h");
  cluster.pool().budgets = {{.nodes = "2"}};
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("b-claim", "c-claim"));
}

TEST(Emptiness, ComesBeforeConsolidation) {
  Cluster cluster;
  cluster.add_node("a");
  cluster.add_node("b", {pod("p")});
  cluster.add_node("c", {pod("q")});
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim"));
}

TEST(Emptiness, IsValidUntilAPodComesOrAPromiseIsMade) {
  Cluster cluster;
  cluster.add_node("a");
  const auto command = cluster.decide().commands.at(0);
  cluster.node("a").record->fenced = true;
  EXPECT_TRUE(still_valid(command, cluster.input())) << "its own fence";

  auto with_pod = cluster;
  with_pod.node("a").record->pods.push_back(pod("p"));
  EXPECT_FALSE(still_valid(command, with_pod.input()));
  with_pod.node("a").record->pods.clear();

  auto with_promise = cluster;
  with_promise.reserve(*pod("p"), "a", kNow + std::chrono::seconds(1));
  EXPECT_FALSE(still_valid(command, with_promise.input()));

  auto without_budget = cluster;
  without_budget.pool().budgets = {{.nodes = "0"}};
  EXPECT_FALSE(still_valid(command, without_budget.input()));
}

// A pod on one of a thousand nodes keeps that node, not the others.
TEST(Emptiness, HoldsForTheNodesThatHaveStayedEmpty) {
  Cluster cluster;
  for (const auto* name : {"a", "b", "c", "d"}) {
    cluster.add_node(name);
  }
  const auto command = cluster.decide().commands.at(0);
  for (const auto* name : {"a", "b", "c", "d"}) {
    cluster.node(name).record->fenced = true;
  }
  EXPECT_TRUE(still_valid(command, cluster.input()));
  cluster.node("a").record->pods.push_back(pod("p"));
  cluster.reserve(*pod("q"), "c", kNow + std::chrono::seconds(1));
  const auto left = what_holds(command, cluster.input());
  EXPECT_THAT(left.claims, ElementsAre("b-claim", "d-claim"));
  EXPECT_DOUBLE_EQ(left.savings, 4);
  EXPECT_EQ(left.summary, "Empty: remove nodes b (medium), d (medium), saving $4/h");
  cluster.pool().budgets = {{.nodes = "1"}};
  EXPECT_THAT(what_holds(command, cluster.input()).claims, ElementsAre("b-claim"));
  cluster.busy = {"d-claim"};
  EXPECT_THAT(what_holds(command, cluster.input()).claims, IsEmpty());
}

TEST(Emptiness, NamesTenNodesOfManyInItsSummary) {
  Cluster cluster;
  for (int i = 0; i < 12; ++i) {
    cluster.add_node("n" + std::to_string(10 + i));
  }
  EXPECT_THAT(cluster.decide().commands.at(0).summary,
              HasSubstr("n19 (medium) and 2 more, saving $24/h"));
}

// The next pod may want the node that the last has just left.
TEST(Emptiness, WaitsUntilPodsHaveComeToRest) {
  Cluster cluster;
  cluster.options.settle_time = std::chrono::seconds(15);
  cluster.add_node("a").claim->last_pod_event_time = kNow - std::chrono::seconds(10);
  const auto decisions = cluster.decide();
  EXPECT_TRUE(decisions.commands.empty());
  EXPECT_EQ(decisions.next_check, kNow + std::chrono::seconds(5));
  cluster.now = kNow + std::chrono::seconds(5);
  auto input = cluster.input();
  EXPECT_THAT(claims_of(decide(input)), ElementsAre("a-claim"));
  input.settle_times["pool"] = std::chrono::seconds(30);  // of nodes with pods
  EXPECT_THAT(claims_of(decide(input)), ElementsAre("a-claim"));
  input.idle_times["pool"] = std::chrono::seconds(16);
  EXPECT_THAT(claims_of(decide(input)), IsEmpty());
}

TEST(Emptiness, IsNoLongerValidForANodeThatIsGoneOrTaken) {
  Cluster cluster;
  cluster.add_node("a");
  const auto command = cluster.decide().commands.at(0);
  EXPECT_FALSE(still_valid(command, Cluster().input()));
  cluster.busy = {"a-claim"};
  EXPECT_FALSE(still_valid(command, cluster.input()));
  EXPECT_FALSE(still_valid({}, cluster.input()));
}

}  // namespace
}  // namespace millwright::disruption
