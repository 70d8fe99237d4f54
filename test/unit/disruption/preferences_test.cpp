// Annotations of NodePools about disruption, and what they make of decisions.
#include "millwright/disruption/preferences.hpp"

#include "consolidation_cases.hpp"

#include <string>

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// kNow is Thursday, 12:00 UTC: 21:00 in Tokyo, 07:00 in New York.
void open_windows(Cluster& cluster, std::string text) {
  annotate(cluster, model::kDisruptionWindowsAnnotation, std::move(text));
}

Cluster with_an_empty_node() {
  Cluster cluster;
  cluster.add_node("a");
  return cluster;
}

Cluster with_an_underused_node() {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "large"});
  return cluster;
}

Cluster with_a_drifted_node() {
  Cluster cluster;
  cluster.add_node("a", {pod("p", 3000)})
      .claim->conditions.push_back({.type = "Drifted",
                                    .status = model::ConditionStatus::True,
                                    .last_transition_time = kLongAgo});
  return cluster;
}

TEST(DisruptionWindows, NothingVoluntaryBeginsOutsideOfThem) {
  for (const auto& make : {with_an_empty_node, with_an_underused_node, with_a_drifted_node}) {
    auto cluster = make();
    EXPECT_THAT(cluster.decide().commands, SizeIs(1)) << "without windows";
    open_windows(cluster, "0 21 * * * for 8h in Asia/Tokyo");
    EXPECT_THAT(cluster.decide().commands, SizeIs(1)) << "just opened";
    open_windows(cluster, "0 20 * * * for 1h in Asia/Tokyo");
    EXPECT_THAT(cluster.decide().commands, IsEmpty()) << "just closed";
    open_windows(cluster, "0 8 * * * for 8h in America/New_York");
    EXPECT_THAT(cluster.decide().commands, IsEmpty()) << "not open yet";
    EXPECT_EQ(cluster.decide().next_check, kNow + hours(1));
  }
}

TEST(DisruptionWindows, SayUntilWhenANodeStays) {
  auto cluster = with_an_underused_node();
  open_windows(cluster, "0 8 * * * for 8h in America/New_York");
  auto decisions = cluster.decide();
  ASSERT_THAT(decisions.blocked, SizeIs(1));
  EXPECT_EQ(decisions.blocked[0].kept, Kept::FromConsolidation);
  EXPECT_EQ(decisions.blocked[0].why.cause, Cause::OutsideWindows);
  EXPECT_EQ(decisions.blocked[0].why.message,
            "The annotation millwright.io/disruption-windows of its NodePool lets no Underutilized "
            "node go before 2026-01-08T13:00:00Z");
  EXPECT_THAT(decisions.spent_budgets, IsEmpty()) << "budgets are not what keeps it";

  cluster = with_a_drifted_node();
  open_windows(cluster, "0 8 * * * for 8h in America/New_York");
  decisions = cluster.decide();
  ASSERT_THAT(decisions.blocked, SizeIs(1));
  EXPECT_EQ(decisions.blocked[0].kept, Kept::FromDisruption);
  EXPECT_EQ(decisions.blocked[0].why.cause, Cause::OutsideWindows);

  open_windows(cluster, "0 0 30 2 * for 1h");
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("lets no Drifted node go at any time"));
  EXPECT_EQ(cluster.decide().next_check, std::nullopt);
}

TEST(DisruptionWindows, ForOneReasonLeaveTheOthersAlone) {
  auto drifted = with_a_drifted_node();
  auto empty = with_an_empty_node();
  for (auto* cluster : {&drifted, &empty}) {
    open_windows(*cluster, "Drifted: 0 10 * * * for 10m in Asia/Kolkata");
  }
  EXPECT_THAT(empty.decide().commands, SizeIs(1));
  EXPECT_THAT(drifted.decide().commands, IsEmpty());
  drifted.now = kNow + hours(16) + minutes(35);  // Friday, 10:05 in Kolkata
  EXPECT_THAT(drifted.decide().commands, SizeIs(1));
}

TEST(DisruptionWindows, AreOfThePoolTheyAreWrittenOn) {
  auto cluster = with_an_empty_node();
  cluster.add_pool(node_pool("other"), {instance_type("medium", 4, 2)});
  cluster.add_node("b", {}, {.pool = "other"});
  open_windows(cluster, "0 22 * * * for 1h");
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("b-claim"));
}

TEST(DisruptionWindows, StopADecisionThatIsNotCarriedOutBeforeTheyClose) {
  for (const auto& make : {with_an_empty_node, with_an_underused_node, with_a_drifted_node}) {
    auto cluster = make();
    open_windows(cluster, "0 12 * * * for 1m");
    const auto command = only_command(cluster);
    EXPECT_TRUE(still_valid(command, cluster.input()));
    cluster.now = kNow + minutes(1);
    EXPECT_FALSE(still_valid(command, cluster.input()));
  }
}

TEST(DisruptionWindows, HoldForStaticPoolsToo) {
  Cluster cluster;
  cluster.options.static_capacity = true;
  cluster.pool().replicas = 1;
  cluster.add_node("a").claim->conditions.push_back({.type = "Drifted",
                                                     .status = model::ConditionStatus::True,
                                                     .last_transition_time = kLongAgo});
  EXPECT_THAT(cluster.decide().commands, SizeIs(1));
  open_windows(cluster, "0 22 * * * for 1h");
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("before 2026-01-08T22:00:00Z"));
}

TEST(DisruptionWindows, CountAsBudgetsThatAllowNothingWhileTheyAreClosed) {
  auto cluster = with_an_empty_node();
  open_windows(cluster, "Empty: 0 22 * * * for 1h");
  const auto input = cluster.input();
  const auto& pool = *input.snapshot->node_pools[0];
  const auto allowed = [&](Reason reason, base::TimePoint now) {
    return allowed_disruptions(pool, input.snapshot->nodes, reason, now);
  };
  EXPECT_EQ(allowed(Reason::Empty, kNow), 0);
  EXPECT_EQ(allowed(Reason::Drifted, kNow), 1);
  EXPECT_EQ(allowed(Reason::Empty, kNow + hours(10)), 1);
}

TEST(ConsolidationAges, AYoungNodeIsNotConsolidatedEmptyOrNot) {
  for (const auto& make : {with_an_empty_node, with_an_underused_node}) {
    auto cluster = make();
    cluster.node("a").claim->meta.creation_timestamp = kNow - minutes(59);
    EXPECT_THAT(cluster.decide().commands, SizeIs(1)) << "without the annotation";
    annotate(cluster, model::kMinNodeAgeAnnotation, "1h");
    const auto decisions = cluster.decide();
    EXPECT_THAT(decisions.commands, IsEmpty());
    EXPECT_EQ(decisions.next_check, kNow + minutes(1));
    ASSERT_THAT(decisions.blocked, SizeIs(1));
    EXPECT_EQ(decisions.blocked[0].kept, Kept::FromConsolidation);
    EXPECT_EQ(decisions.blocked[0].why.message,
              "It is younger than the annotation millwright.io/consolidation-min-node-age of "
              "NodePool pool asks for (1h); it may be consolidated at 2026-01-08T12:01:00Z");
    cluster.now = kNow + minutes(1);
    EXPECT_THAT(cluster.decide().commands, SizeIs(1));
  }
}

TEST(ConsolidationAges, ADriftedNodeGoesHoweverYoungItIs) {
  auto cluster = with_a_drifted_node();
  cluster.node("a").claim->meta.creation_timestamp = kNow;
  annotate(cluster, model::kMinNodeAgeAnnotation, "24h");
  annotate(cluster, model::kMinPodAgeAnnotation, "48h");
  EXPECT_THAT(cluster.decide().commands, SizeIs(1));
}

TEST(ConsolidationAges, ANodeToWhichAPodCameLatelyStays) {
  Cluster cluster;
  auto late = pod("late");
  late->status.conditions = {{.type = "PodScheduled",
                              .status = model::ConditionStatus::True,
                              .last_transition_time = kNow - minutes(8)}};
  auto later = pod("later");
  later->status.start_time = kNow - minutes(7);
  cluster.add_node("a", {later, late, pod("p")}, {.type = "large"});
  EXPECT_THAT(cluster.decide().commands, SizeIs(1));
  annotate(cluster, model::kMinPodAgeAnnotation, "10m");
  const auto decisions = cluster.decide();
  EXPECT_THAT(decisions.commands, IsEmpty());
  EXPECT_EQ(decisions.next_check, kNow + minutes(3));
  ASSERT_THAT(decisions.blocked, SizeIs(1));
  EXPECT_EQ(decisions.blocked[0].why.message,
            "Pod default/later came to it later than the annotation "
            "millwright.io/consolidation-min-pod-age of NodePool pool asks for (10m); it may be "
            "consolidated at 2026-01-08T12:03:00Z");
  cluster.now = kNow + minutes(3);
  EXPECT_THAT(cluster.decide().commands, SizeIs(1));
}

TEST(ConsolidationAges, OfPodsThatDoNotMoveDoNotCount) {
  Cluster cluster;
  auto daemon = pod("daemon", 100);
  daemon->meta.owner_references[0].kind = "DaemonSet";
  daemon->status.start_time = kNow;
  cluster.add_node("a", {daemon});
  annotate(cluster, model::kMinPodAgeAnnotation, "10m");
  EXPECT_THAT(cluster.decide().commands, SizeIs(1));
}

TEST(ConsolidationAges, StopADecisionWhenAPodComesBeforeItIsCarriedOut) {
  auto cluster = with_an_underused_node();
  annotate(cluster, model::kMinPodAgeAnnotation, "10m");
  const auto command = only_command(cluster);
  EXPECT_TRUE(still_valid(command, cluster.input()));
  auto late = pod("late", 100);
  late->status.start_time = kNow;
  late->spec.node_name = "a";
  cluster.node("a").record->pods.push_back(late);
  EXPECT_FALSE(still_valid(command, cluster.input()));
}

TEST(ConsolidationAges, AreReadAsDurations) {
  const auto read = [](const std::string& text) {
    return parse_preferences({{std::string(model::kMinNodeAgeAnnotation), text},
                              {std::string(model::kMinPodAgeAnnotation), text}});
  };
  for (const auto* text : {"90m", " 1h30m ", "1.5h"}) {
    EXPECT_THAT(read(text).unreadable, IsEmpty()) << text;
    EXPECT_EQ(read(text).min_node_age, minutes(90)) << text;
    EXPECT_EQ(read(text).min_pod_age, minutes(90)) << text;
  }
  EXPECT_THAT(read("0s").unreadable, IsEmpty());
  for (const auto* text : {"", "1", "1d", "-1h", "Never", "true"}) {
    EXPECT_THAT(read(text).unreadable, SizeIs(2)) << text;
  }
  EXPECT_THAT(read(std::string(200, '1')).unreadable[0].problem,
              HasSubstr("longer than 100 bytes"));
  auto cluster = with_an_empty_node();
  annotate(cluster, model::kMinPodAgeAnnotation, "1d");
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("consolidation-min-pod-age of its NodePool cannot"));
}

// The underused node costs $4/h; its pod fits on a medium of $2 or a small of $1.
TEST(ConsolidationSavings, AReplacementThatSavesLessIsNotMade) {
  const struct {
    std::string savings;
    std::vector<std::string> types;  // of the replacement; none: it is not made
  } cases[] = {
      {"0%", {"small", "medium"}},
      {"50%", {"small", "medium"}},
      {"50.1%", {"small"}},
      {"75%", {"small"}},
      {"75.1%", {}},
      {"$0.000000000001", {"small", "medium"}},
      {"$2", {"small", "medium"}},
      {"$2.01/h", {"small"}},
      {"$3.01", {}},
      {"$9", {}},
      {"10%, $3", {"small"}},
      {"80%, $1", {}},
      {"10%,80%", {}},
  };
  for (const auto& test : cases) {
    auto cluster = with_an_underused_node();
    annotate(cluster, model::kMinSavingsAnnotation, test.savings);
    const auto decisions = cluster.decide();
    ASSERT_THAT(decisions.commands, SizeIs(test.types.empty() ? 0 : 1)) << test.savings;
    if (!test.types.empty()) {
      EXPECT_EQ(decisions.commands[0].replacements.at(0).instance_types, test.types)
          << test.savings;
      continue;
    }
    ASSERT_THAT(decisions.blocked, SizeIs(1));
    EXPECT_EQ(decisions.blocked[0].kept, Kept::FromConsolidation);
    EXPECT_EQ(decisions.blocked[0].why.cause, Cause::SavesTooLittle);
    EXPECT_EQ(decisions.blocked[0].why.message,
              "No instance type satisfies its pods and saves as much as the annotation "
              "millwright.io/consolidation-min-savings of NodePool pool asks for (" +
                  test.savings + ")");
  }
}

TEST(ConsolidationSavings, ARemovalSavesAllThatTheNodeCosts) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "small"});
  add_keeper(cluster, "b", 1000);
  for (const auto* savings : {"100%", "$1", "100%, $1/h"}) {
    annotate(cluster, model::kMinSavingsAnnotation, savings);
    EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim")) << savings;
  }
  annotate(cluster, model::kMinSavingsAnnotation, "$1.5");
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
  EXPECT_EQ(cluster.why_not("a"),
            "It would save $1/h, less than the annotation millwright.io/consolidation-min-savings "
            "of NodePool pool asks for ($1.5)");
}

TEST(ConsolidationSavings, CountForAllNodesOfAConsolidationTogether) {
  Cluster cluster;
  cluster.add_pool(node_pool("other"), {instance_type("small", 2, 1)});
  cluster.add_node("a", {pod("p")}, {.type = "small"});
  cluster.add_node("b", {pod("q")}, {.type = "small", .pool = "other"});
  add_keeper(cluster, "c", 1000);
  annotate(cluster, model::kMinSavingsAnnotation, "$1.5");
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim", "b-claim"));
  annotate(cluster, model::kMinSavingsAnnotation, "$2.5");
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("b-claim")) << "its pool asks for nothing";
}

TEST(ConsolidationSavings, EmptyAndDriftedNodesGoForLess) {
  for (const auto& make : {with_an_empty_node, with_a_drifted_node}) {
    auto cluster = make();
    annotate(cluster, model::kMinSavingsAnnotation, "100%, $1000");
    EXPECT_THAT(cluster.decide().commands, SizeIs(1));
  }
}

TEST(ConsolidationSavings, AreReadAsPartsAndPrices) {
  const auto read = [](const std::string& text) {
    return parse_preferences({{std::string(model::kMinSavingsAnnotation), text}});
  };
  EXPECT_DOUBLE_EQ(read(" 12.5% ,$0.05/h").min_savings_share, 0.125);
  EXPECT_DOUBLE_EQ(read(" 12.5% ,$0.05/h").min_savings, 0.05);
  EXPECT_THAT(read("0%").unreadable, IsEmpty());
  for (const auto* text : {"", ",", "10", "0.05", "-1%", "101%", "nan%", "inf%", "$", "$-1", "$inf",
                           "%", "10 percent", "5€", "10% $0.05", "10%, much"}) {
    EXPECT_THAT(read(text).unreadable, SizeIs(1)) << text;
  }
}

TEST(ConsolidationUtilization, AFullerNodeIsNotConsolidated) {
  Cluster cluster;  // 3 of 4 CPUs are used on "a", and would fit on "b"
  cluster.add_node("a", {pod("p", 2000), pod("q")});
  add_keeper(cluster, "b", 1000, {.type = "large"});
  annotate(cluster, model::kMaxUtilizationAnnotation, "75%");
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim")) << "not above";
  annotate(cluster, model::kMaxUtilizationAnnotation, "70%");
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
  EXPECT_EQ(cluster.why_not("a"),
            "75.0% of its cpu is requested, more than the annotation "
            "millwright.io/consolidation-max-utilization of NodePool pool asks for (70%)");
}

TEST(ConsolidationUtilization, IsThatOfTheResourceThatIsUsedMost) {
  Cluster cluster;
  auto with_gpu = pod("p", 100);
  with_gpu->spec.containers[0].requests["example.com/gpu"] = model::Quantity::from_units(1);
  auto& a = cluster.add_node("a", {with_gpu});
  auto& b = add_keeper(cluster, "b", 100);
  for (auto* member : {&a, &b}) {
    member->node->capacity["example.com/gpu"] = model::Quantity::from_units(2);
    member->node->allocatable["example.com/gpu"] = model::Quantity::from_units(2);
  }
  annotate(cluster, model::kMaxUtilizationAnnotation, "50%");
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim"));
  annotate(cluster, model::kMaxUtilizationAnnotation, "40%");
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("50.0% of its example.com/gpu is requested"));
}

TEST(ConsolidationUtilization, LeavesOutWhatDaemonSetsUse) {
  Cluster cluster;
  auto daemon = pod("daemon");
  daemon->meta.owner_references[0].kind = "DaemonSet";
  cluster.add_node("a", {daemon, pod("p", 1500)});  // half of the 3 CPUs that are left
  add_keeper(cluster, "b", 1000);
  annotate(cluster, model::kMaxUtilizationAnnotation, "50%");
  EXPECT_THAT(claims_of(cluster.decide()), ElementsAre("a-claim"));
  annotate(cluster, model::kMaxUtilizationAnnotation, "49%");
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
}

TEST(ConsolidationUtilization, KeepsNoDriftedNode) {
  auto cluster = with_a_drifted_node();
  annotate(cluster, model::kMaxUtilizationAnnotation, "1%");
  EXPECT_THAT(cluster.decide().commands, SizeIs(1));
}

TEST(ConsolidationUtilization, IsReadAsAPart) {
  const auto read = [](const std::string& text) {
    return parse_preferences({{std::string(model::kMaxUtilizationAnnotation), text}});
  };
  EXPECT_DOUBLE_EQ(read(" 70% ").max_utilization.value(), 0.7);
  EXPECT_DOUBLE_EQ(read("0%").max_utilization.value(), 0);
  for (const auto* text : {"", "70", "0.7", "101%", "-1%", "70%, 80%", "nan%"}) {
    EXPECT_THAT(read(text).unreadable, SizeIs(1)) << text;
  }
}

TEST(PriceRatio, IsReadAsANumberFromOneUp) {
  const auto read = [](const std::string& text) {
    return parse_preferences({{std::string(model::kMaxPriceRatioAnnotation), text}});
  };
  EXPECT_DOUBLE_EQ(read(" 2.5 ").max_price_ratio.value(), 2.5);
  EXPECT_DOUBLE_EQ(read("0").max_price_ratio.value(), 0);
  for (const auto* text : {"", "0.9", "-2", "2x", "nan", "inf"}) {
    EXPECT_THAT(read(text).unreadable, SizeIs(1)) << text;
    EXPECT_FALSE(read(text).max_price_ratio) << text;
  }
}

// As with budgets: what somebody asked for and mistyped must not let nodes go.
TEST(Preferences, ThatCannotBeReadHoldAllNodesOfThePool) {
  for (const auto& make : {with_an_empty_node, with_an_underused_node, with_a_drifted_node}) {
    auto cluster = make();
    open_windows(cluster, "at night");
    EXPECT_THAT(cluster.decide().commands, IsEmpty());
    EXPECT_THAT(cluster.why_not("a"),
                HasSubstr("The annotation millwright.io/disruption-windows of its NodePool cannot "
                          "be read: window \"at night\""));
  }
}

TEST(Preferences, OfNoAnnotationAskForNothing) {
  const auto preferences = parse_preferences({{"example.com/disruption-windows", "x"}});
  EXPECT_THAT(preferences.unreadable, IsEmpty());
  EXPECT_FALSE(preferences.closed(Reason::Drifted, kNow));
}

}  // namespace
}  // namespace millwright::disruption
