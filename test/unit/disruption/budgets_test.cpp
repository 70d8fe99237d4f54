#include "cluster_builder.hpp"

#include <rapidcheck/gtest.h>

#include <limits>

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::SizeIs;

constexpr int kUnlimited = std::numeric_limits<int>::max();

// Ten nodes, all well.
Cluster ten_nodes() {
  Cluster cluster;
  for (int i = 0; i < 10; ++i) {
    cluster.add_node("n" + std::to_string(i));
  }
  return cluster;
}

int allowed(const Cluster& cluster, Reason reason, base::TimePoint now = kNow) {
  const auto input = cluster.input();
  return allowed_disruptions(*input.snapshot->node_pools[0], input.snapshot->nodes, reason, now);
}

TEST(Budgets, AllowWhatTheTightestActiveOneSays) {
  struct Case {
    const char* name;
    std::vector<model::DisruptionBudget> budgets;
    Reason reason;
    int expected;
  };
  const std::vector<Case> cases{
      {"none at all", {}, Reason::Empty, kUnlimited},
      {"a count", {{.nodes = "3"}}, Reason::Empty, 3},
      {"a count beyond the nodes", {{.nodes = "30"}}, Reason::Empty, 30},
      {"all", {{.nodes = "100%"}}, Reason::Empty, 10},
      {"nothing", {{.nodes = "0"}}, Reason::Empty, 0},
      {"zero percent", {{.nodes = "0%"}}, Reason::Empty, 0},
      {"percent rounds up", {{.nodes = "11%"}}, Reason::Empty, 2},
      {"the tightest", {{.nodes = "5"}, {.nodes = "2"}, {.nodes = "90%"}}, Reason::Empty, 2},
      {"for this reason", {{.nodes = "1", .reasons = {"Empty"}}}, Reason::Empty, 1},
      {"for another reason", {{.nodes = "1", .reasons = {"Drifted"}}}, Reason::Empty, kUnlimited},
      {"for two reasons",
       {{.nodes = "1", .reasons = {"Drifted", "Empty"}}, {.nodes = "4"}},
       Reason::Underutilized,
       4},
      {"in its window",
       {{.nodes = "1", .schedule = "0 9 * * *", .duration = "8h"}},
       Reason::Empty,
       1},
      {"before its window",
       {{.nodes = "1", .schedule = "0 15 * * mon-fri", .duration = "9h"}},
       Reason::Empty,
       kUnlimited},
      {"just opened",
       {{.nodes = "1", .schedule = "0 12 * * *", .duration = "1m"}},
       Reason::Empty,
       1},
      {"just closed",
       {{.nodes = "1", .schedule = "0 11 * * *", .duration = "1h"}},
       Reason::Empty,
       kUnlimited},
      {"a macro", {{.nodes = "1", .schedule = "@daily", .duration = "12h1m"}}, Reason::Empty, 1},
      {"unreadable count", {{.nodes = "some"}}, Reason::Empty, 0},
      {"negative", {{.nodes = "-1"}}, Reason::Empty, 0},
      {"over a hundred percent", {{.nodes = "101%"}}, Reason::Empty, 0},
      {"unreadable schedule",
       {{.nodes = "5", .schedule = "at noon", .duration = "1h"}},
       Reason::Empty,
       0},
      {"schedule without duration", {{.nodes = "5", .schedule = "@daily"}}, Reason::Empty, 0},
      {"duration without schedule", {{.nodes = "5", .duration = "1h"}}, Reason::Empty, 0},
      {"unreadable, for another reason",
       {{.nodes = "some", .reasons = {"Drifted"}}},
       Reason::Empty,
       0},
  };
  for (const auto& test : cases) {
    auto cluster = ten_nodes();
    cluster.pool().budgets = test.budgets;
    EXPECT_EQ(allowed(cluster, test.reason), test.expected) << test.name;
  }
}

TEST(Budgets, CountNodesThatAreGoingOrNotReadyAsGone) {
  auto cluster = ten_nodes();
  cluster.pool().budgets = {{.nodes = "5"}};
  cluster.node("n0").record->marked_for_deletion = true;
  cluster.node("n1").node->conditions[0].status = model::ConditionStatus::False;
  EXPECT_EQ(allowed(cluster, Reason::Empty), 3);
  cluster.node("n2").node->conditions[0].status = model::ConditionStatus::Unknown;
  cluster.node("n3").node->conditions.clear();
  cluster.node("n4").record->marked_for_deletion = true;
  cluster.node("n5").record->marked_for_deletion = true;
  EXPECT_EQ(allowed(cluster, Reason::Empty), 0) << "never below zero";
}

TEST(Budgets, CountOnlyInitialisedNodesOfTheirPool) {
  auto cluster = ten_nodes();
  cluster.add_pool(node_pool("other"), {instance_type("medium", 4, 2)});
  for (int i = 0; i < 10; ++i) {
    cluster.add_node("o" + std::to_string(i), {}, {.pool = "other"});
  }
  cluster.pool().budgets = {{.nodes = "50%"}};
  EXPECT_EQ(allowed(cluster, Reason::Empty), 5);
  for (const auto* name : {"n0", "n1"}) {
    cluster.node(name).node->meta.labels.erase(std::string(model::kInitializedLabel));
  }
  EXPECT_EQ(allowed(cluster, Reason::Empty), 4) << "8 count";
  cluster.node("n2").claim->conditions.push_back(
      {.type = "InstanceTerminating", .status = model::ConditionStatus::True});
  cluster.node("n2").record->marked_for_deletion = true;
  EXPECT_EQ(allowed(cluster, Reason::Empty), 4) << "7 count, and the one leaving does not";
}

// The example of a user: 15:00 to 24:00 UTC on weekdays nothing is removed as underutilized, while
// empty and drifted nodes go one at a time at any hour.
TEST(Budgets, ByReasonAndHourAsInTheUsersManifest) {
  auto cluster = ten_nodes();
  cluster.pool().budgets = {{.nodes = "0",
                             .reasons = {"Underutilized"},
                             .schedule = "0 15 * * mon-fri",
                             .duration = "9h"},
                            {.nodes = "1", .reasons = {"Empty", "Drifted"}}};
  const auto midnight = kNow - hours(12);
  struct Case {
    const char* name;
    base::TimePoint time;
    int underutilized;
  };
  for (const auto& test : {Case{"Thursday 14:59", midnight + hours(15) - minutes(1), kUnlimited},
                           Case{"Thursday 15:00", midnight + hours(15), 0},
                           Case{"Thursday 23:59", midnight + hours(24) - minutes(1), 0},
                           Case{"Friday 00:00", midnight + hours(24), kUnlimited},
                           Case{"Saturday 16:00", midnight + hours(2 * 24 + 16), kUnlimited}}) {
    EXPECT_EQ(allowed(cluster, Reason::Underutilized, test.time), test.underutilized) << test.name;
    EXPECT_EQ(allowed(cluster, Reason::Empty, test.time), 1) << test.name;
    EXPECT_EQ(allowed(cluster, Reason::Drifted, test.time), 1) << test.name;
  }
}

TEST(Budgets, LimitWhatOneDecisionRemovesIncludingCommandsInProgress) {
  auto cluster = ten_nodes();
  cluster.pool().budgets = {{.nodes = "3"}};
  EXPECT_THAT(claims_of(cluster.decide()), SizeIs(3));
  cluster.busy = {"n0-claim", "n1-claim"};
  EXPECT_THAT(claims_of(cluster.decide()), SizeIs(1));
  EXPECT_THAT(cluster.why_not("n9"),
              ::testing::HasSubstr("spec.disruption.budgets of NodePool pool"));
}

TEST(Budgets, AreLookedAtAgainWhenTheirScheduleTurns) {
  auto cluster = ten_nodes();
  cluster.pool().budgets = {{.nodes = "0", .schedule = "0 9 * * *", .duration = "8h"}};
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_EQ(cluster.decide().next_check, kNow + hours(5)) << "17:00, when the window closes";
}

RC_GTEST_PROP(Budgets, AreNeverExceeded, ()) {
  auto cluster = ten_nodes();
  const auto percent = *rc::gen::inRange(0, 101);
  const auto count = *rc::gen::inRange(0, 12);
  cluster.pool().budgets = {{.nodes = std::to_string(percent) + "%"},
                            {.nodes = std::to_string(count)}};
  int gone = 0;
  for (int i = 0; i < 10; ++i) {
    auto& member = cluster.node("n" + std::to_string(i));
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        member.record->marked_for_deletion = true;
        ++gone;
        break;
      case 1:
        member.node->conditions.clear();
        ++gone;
        break;
      case 2:
        cluster.busy.insert(member.claim->meta.name);
        ++gone;
        break;
      default:
        break;
    }
  }
  const auto limit = std::min((10 * percent + 99) / 100, count);
  RC_ASSERT(static_cast<int>(claims_of(cluster.decide()).size()) <= std::max(0, limit - gone));
}

}  // namespace
}  // namespace millwright::disruption
