#include "consolidation_cases.hpp"

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

void allow_spot(Cluster& cluster) {
  cluster.pool().template_.requirements[0].values = {"on-demand", "spot"};
}

TEST(Consolidation, RemovesANodeWhosePodsFitElsewhere) {
  Cluster cluster;
  cluster.add_node("a", {pod("p"), pod("q")});
  add_keeper(cluster, "b", 1000);
  const auto command = only_command(cluster);
  EXPECT_EQ(command.reason, Reason::Underutilized);
  EXPECT_THAT(command.claims, ElementsAre("a-claim"));
  EXPECT_TRUE(command.replacements.empty());
  EXPECT_DOUBLE_EQ(command.savings, 2);
  ASSERT_THAT(command.placements, SizeIs(2));
  EXPECT_EQ(std::get<std::string>(command.placements[0].target), "b");
  EXPECT_EQ(command.summary, "Underutilized: remove node a (medium), saving $2/h");
}

TEST(Consolidation, ReplacesANodeByOneThatIsStrictlyCheaper) {
  Cluster cluster;
  cluster.add_node("a", {pod("p"), pod("q", 2000)}, {.type = "large"});
  const auto command = only_command(cluster);
  ASSERT_THAT(command.replacements, SizeIs(1));
  EXPECT_THAT(command.replacements[0].instance_types, ElementsAre("medium"));
  EXPECT_THAT(command.replacements[0].requirements.get(model::kInstanceTypeLabel).values(),
              ElementsAre("medium"));
  EXPECT_DOUBLE_EQ(command.savings, 2);
  ASSERT_THAT(command.placements, SizeIs(2));
  EXPECT_EQ(std::get<std::size_t>(command.placements[0].target), 0U);
  EXPECT_EQ(command.summary, "Underutilized: replace node a (large) by medium, saving $2/h");
}

TEST(Consolidation, TakesTwoNewNodesWhereTheySaveMoreThanOne) {
  Cluster cluster;
  cluster.set_types("pool", {instance_type("small", 2, 1), instance_type("medium", 4, 3),
                             instance_type("large", 8, 6)});
  cluster.add_node("a", {pod("p", 2000), pod("q", 2000)}, {.type = "large"});
  const auto command = only_command(cluster);
  ASSERT_THAT(command.replacements, SizeIs(2));
  EXPECT_THAT(command.replacements[0].instance_types, ElementsAre("small"));
  EXPECT_THAT(command.replacements[1].instance_types, ElementsAre("small"));
  EXPECT_DOUBLE_EQ(command.savings, 4);
  EXPECT_EQ(command.summary, "Underutilized: replace node a (large) by small, small, saving $4/h");
  EXPECT_TRUE(still_valid(command, cluster.input()));
}

TEST(Consolidation, OffersEveryCheaperTypeCheapestFirst) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "large"});
  EXPECT_THAT(only_command(cluster).replacements.at(0).instance_types,
              ElementsAre("small", "medium"));
}

TEST(Consolidation, KeepsANodeThatNothingCheaperCanReplace) {
  Cluster cluster;
  cluster.add_node("a", {pod("p", 3000)});
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("No cheaper instance type"));
}

TEST(Consolidation, BuysNothingForPodsThatNobodyCreatesAgain) {
  Cluster cluster;
  cluster.add_node("a", {bare_pod("p")}, {.type = "large"});
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("No controller would create its pods again"));
}

TEST(Consolidation, SumsOfPricesThatDifferByRoundingSaveNothing) {
  Cluster cluster;
  cluster.set_types("pool", {instance_type("small", 2, 0.1), instance_type("medium", 4, 0.2),
                             instance_type("large", 6, 0.3)});
  cluster.add_node("a", {pod("p", 2000)}, {.type = "small"});
  cluster.add_node("b", {pod("q", 4000)}, {.type = "medium"});
  ASSERT_GT(0.1 + 0.2, 0.3);
  EXPECT_TRUE(cluster.decide().commands.empty());
}

// Two pods that must not be in one zone.
std::vector<std::shared_ptr<model::Pod>> pods_of_two_zones(std::int64_t millicores) {
  auto here = pod("p", millicores);
  here->spec.node_selector[std::string(model::kZoneLabel)] = "a";
  auto there = pod("q", millicores);
  there->spec.node_selector[std::string(model::kZoneLabel)] = "b";
  return {here, there};
}

TEST(Consolidation, TakesSeveralNewNodesWhereOneWillNotDo) {
  Cluster cluster;
  cluster.add_node("n", pods_of_two_zones(1500), {.type = "large"});
  const auto command = only_command(cluster);
  EXPECT_THAT(command.replacements, SizeIs(2));
  EXPECT_DOUBLE_EQ(command.savings, 2);
  for (const auto& claim : command.replacements) {
    EXPECT_THAT(claim.instance_types, ElementsAre("small"))
        << "with a medium each they might cost as much as before";
  }
}

TEST(Consolidation, KeepsANodeWhosePodsWouldNeedSeveralThatCostAsMuch) {
  Cluster cluster;
  cluster.add_node("n", pods_of_two_zones(2500), {.type = "large"});
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("n"), HasSubstr("would need 2 new nodes"));
}

TEST(Consolidation, KeepsANodeWhosePodWouldFindNoPlace) {
  Cluster cluster;
  auto bound_here = pod("p");
  bound_here->spec.node_selector[std::string(model::kHostnameLabel)] = "a";
  cluster.add_node("a", {bound_here}, {.type = "large"});
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("Pod default/p would find no place"));
}

TEST(Consolidation, UsesNodesThatNobodyManages) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "small"});
  auto& foreign = cluster.add_node("b");
  foreign.claim = nullptr;
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("a-claim"));
}

TEST(Consolidation, DoesNotRelyOnANodeThatIsNotInitialised) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "small"});
  begin_to_start(cluster.add_node("b"), kNow - std::chrono::minutes(5));
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("node b, which is not initialized yet"));
}

TEST(Consolidation, DoesNotMovePodsOntoANodeWithinItsConsolidateAfter) {
  Cluster cluster;
  cluster.pool().consolidate_after.text = "1h";
  cluster.add_node("a", {pod("p"), pod("q")}, {.type = "large"});
  auto& recent = add_keeper(cluster, "b", 1000);
  recent.claim->last_pod_event_time = kNow - seconds(10);
  const auto command = only_command(cluster);
  EXPECT_THAT(command.replacements, SizeIs(1)) << "a replacement is still allowed";
  recent.claim->last_pod_event_time = kNow - hours(2);
  EXPECT_TRUE(only_command(cluster).replacements.empty());
}

// Else nothing could be consolidated while pods come and go.
TEST(Consolidation, LeavesRoomOnNodesWhosePodsJustChangedToPodsThatWaitOrLeave) {
  Cluster cluster;
  cluster.pool().consolidate_after.text = "1h";
  cluster.add_node("a", {pod("p"), pod("q")}, {.type = "large"});
  auto& recent = add_keeper(cluster, "b", 1000);
  recent.claim->last_pod_event_time = kNow - seconds(10);
  cluster.add_pending(pod("new"));
  cluster.add_node("c", {pod("leaving")}, {.type = "small"}).record->marked_for_deletion = true;
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, ElementsAre("a-claim")) << cluster.why_not("a");
  EXPECT_THAT(command.replacements, SizeIs(1)) << "its own pods do not go there";
  cluster.add_pending(pod("more", 1500));
  EXPECT_TRUE(cluster.decide().commands.empty()) << "not all have room there";
  cluster.reserve(*pod("more", 1500), "elsewhere", kNow + hours(1));
  EXPECT_THAT(only_command(cluster).replacements, SizeIs(1));
  cluster.reserve(*pod("another", 1500), "b", kNow + hours(1));
  EXPECT_TRUE(cluster.decide().commands.empty()) << "the room is kept for others";
}

TEST(Consolidation, WaitsUntilPodsHaveComeToRest) {
  Cluster cluster;
  cluster.options.settle_time = seconds(15);
  cluster.add_node("a", {pod("p"), pod("q")});
  add_keeper(cluster, "b", 1000);
  auto& busy = cluster.node("a");
  busy.claim->last_pod_event_time = kNow - seconds(10);
  const auto decisions = cluster.decide();
  EXPECT_TRUE(decisions.commands.empty());
  EXPECT_EQ(decisions.next_check, kNow + seconds(5));
  cluster.now = kNow + seconds(5);
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("a-claim"));
}

// "full" settled long before; "last" does 5 s from now, and is the one that is better given up.
Cluster cluster_that_settles(base::Duration last_settles_in) {
  Cluster cluster;
  cluster.options.settle_time = seconds(15);
  cluster.options.settle_together = seconds(15);
  cluster.set_types("pool", {instance_type("medium", 4, 2)});
  cluster.add_node("full", {pod("p", 500), pod("q", 500), pod("r", 500)});
  cluster.add_node("last", {pod("s", 500)});
  cluster.node("full").claim->last_pod_event_time = kNow - seconds(20);
  cluster.node("last").claim->last_pod_event_time = kNow + last_settles_in - seconds(15);
  return cluster;
}

TEST(SettlingTogether, NodesOfAPoolAreJudgedTogether) {
  auto cluster = cluster_that_settles(seconds(5));
  const auto decisions = cluster.decide();
  EXPECT_TRUE(decisions.commands.empty());
  EXPECT_EQ(decisions.next_check, kNow + seconds(5));
  EXPECT_THAT(cluster.why_not("full"), HasSubstr("Pods of other nodes of its NodePool"));
  EXPECT_THAT(cluster.why_not("last"), HasSubstr("Its pods have just changed"));
  cluster.now = kNow + seconds(5);
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("last-claim"));
}

TEST(SettlingTogether, NobodyWaitsForLonger) {
  auto cluster = cluster_that_settles(seconds(11));
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("full-claim")) << "settled 5 s ago";
}

TEST(SettlingTogether, ConsolidateAfterCounts) {
  auto cluster = cluster_that_settles(seconds(5));
  cluster.pool().consolidate_after.text = "18s";
  EXPECT_EQ(cluster.decide().next_check, kNow + seconds(8));
  cluster.pool().consolidate_after.text = "30s";
  EXPECT_EQ(cluster.decide().next_check, kNow + seconds(10)) << "none of them may go before";
}

TEST(SettlingTogether, EmptyNodesNeitherWaitNorAreWaitedFor) {
  auto cluster = cluster_that_settles(seconds(5));
  cluster.add_node("empty");
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("empty-claim"));
  auto with_young = cluster_that_settles(seconds(40));
  with_young.add_node("empty").claim->last_pod_event_time = kNow - seconds(10);
  EXPECT_THAT(only_command(with_young).claims, ElementsAre("full-claim"));
}

// Its pods are bound already, but its nomination lasts 20 s all the same.
TEST(SettlingTogether, ANodeThatIsNominatedIsWaitedFor) {
  auto cluster = cluster_that_settles(seconds(-20));
  cluster.node("last").record->nominated_until = kNow + seconds(10);
  const auto decisions = cluster.decide();
  EXPECT_TRUE(decisions.commands.empty());
  EXPECT_EQ(decisions.next_check, kNow + seconds(10));
  EXPECT_THAT(cluster.why_not("full"), HasSubstr("Pods of other nodes of its NodePool"));
  cluster.now = kNow + seconds(10);
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("last-claim"));
}

TEST(SettlingTogether, ANodeThatStaysNominatedIsNotWaitedFor) {
  auto cluster = cluster_that_settles(seconds(-20));
  cluster.node("last").record->nominated_until = kNow + seconds(11);
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("full-claim")) << "settled 5 s ago";
}

TEST(SettlingTogether, NodesOfOtherPoolsAreNotWaitedFor) {
  auto cluster = cluster_that_settles(seconds(5));
  cluster.add_pool(node_pool("other"), {instance_type("medium", 4, 2)});
  cluster.add_node("foreign", {pod("t", 500)}, {.pool = "other"});
  cluster.node("foreign").claim->last_pod_event_time = kNow - seconds(20);
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("foreign-claim"));
}

TEST(Consolidation, LeavesRoomThatIsReservedForOthers) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "small"});
  add_keeper(cluster, "b", 2500);
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("a-claim"));
  cluster.reserve(*pod("waiting"), "b", kNow + hours(1));
  EXPECT_TRUE(cluster.decide().commands.empty());
}

// A leader bought "b" to replace "a" and died: the next one must not buy once more, and let "b" go
// unused.
TEST(Consolidation, MovesPodsToTheReplacementThatIsThereForThem) {
  Cluster cluster;
  cluster.add_node("a", {pod("p", 1500)}, {.type = "large"});
  cluster.add_node("b", {}, {.type = "small"});
  cluster.reserve(*pod("p", 1500), "b", kNow + hours(1));
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, ElementsAre("a-claim"));
  EXPECT_TRUE(command.replacements.empty());
}

TEST(Consolidation, LeavesRoomForPodsOfNodesThatAreGoingAlready) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "small"});
  add_keeper(cluster, "b", 2500);
  auto& going = cluster.add_node("c", {pod("q")}, {.type = "small"});
  cluster.busy = {"c-claim"};
  // One place, two pods: with the other pod on its way, the removal would need a new node.
  EXPECT_TRUE(cluster.decide().commands.empty());
  going.record->pods.clear();
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("a-claim"));
}

TEST(Consolidation, IsNotStoppedByAPodThatNoNodeCouldTake) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")});
  add_keeper(cluster, "b", 1000);
  cluster.add_pending(pod("huge", 100'000));
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("a-claim"));
}

TEST(Consolidation, WaitsWhilePendingPodsNeedNewCapacity) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "large"});
  cluster.add_pending(pod("new"));
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("wait for new capacity"));
  cluster.reserve(*pod("new"), "elsewhere", kNow + hours(1));
  EXPECT_THAT(only_command(cluster).replacements, SizeIs(1)) << "it has room elsewhere";
  cluster.add_pending(replica("new", "one-more"));
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("wait for new capacity"));
}

TEST(Consolidation, NeverPaysMoreThanNowWhateverZoneTheLaunchGets) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "large"});
  auto uneven = instance_type("medium", 4, 2);
  for (auto& offering : uneven.offerings) {
    if (offering.zone() == "b") {
      offering.price = 9;
    }
  }
  cluster.set_types("pool", {uneven, instance_type("large", 8, 4)});
  EXPECT_TRUE(cluster.decide().commands.empty());
  for (auto& offering : uneven.offerings) {
    offering.available = offering.zone() == "a";
  }
  cluster.set_types("pool", {uneven, instance_type("large", 8, 4)});
  EXPECT_THAT(only_command(cluster).replacements, SizeIs(1));
}

TEST(Consolidation, OnDemandMayBecomeSpotAndThenOnlySpot) {
  Cluster cluster;
  allow_spot(cluster);
  cluster.add_node("a", {pod("p", 3000)});
  const auto command = only_command(cluster);
  ASSERT_THAT(command.replacements, SizeIs(1));
  EXPECT_THAT(command.replacements[0].requirements.get(model::kCapacityTypeLabel).values(),
              ElementsAre("spot"));
  EXPECT_THAT(command.replacements[0].instance_types, ElementsAre("medium", "large"))
      << "large costs 4/3 as spot, which is less than 2";
  EXPECT_NEAR(command.savings, 2 - 2.0 / 3, 1e-9);
}

TEST(Consolidation, SpotForSpotNeedsItsGateAndFifteenTypes) {
  Cluster cluster;
  allow_spot(cluster);
  std::vector<scheduling::InstanceType> types{instance_type("dear", 8, 10)};
  for (int i = 0; i < 20; ++i) {
    types.push_back(instance_type("t" + std::to_string(10 + i), 4, 1 + 0.1 * i));
  }
  cluster.set_types("pool", types);
  cluster.add_node("a", {pod("p")}, {.type = "dear", .capacity_type = "spot"});
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("SpotToSpotConsolidation"));

  cluster.options.spot_to_spot = true;
  auto command = only_command(cluster);
  EXPECT_THAT(command.replacements.at(0).instance_types, SizeIs(15));
  EXPECT_EQ(command.replacements.at(0).instance_types.front(), "t10");
  EXPECT_EQ(command.replacements.at(0).instance_types.back(), "t24");

  types.resize(15);  // fourteen are cheaper
  cluster.set_types("pool", types);
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("Only 14 cheaper spot instance types"));
}

TEST(Consolidation, GivesUpWhenTheCheaperTypesBreakMinValues) {
  Cluster cluster;
  cluster.pool().template_.requirements.push_back({.key = std::string(model::kInstanceTypeLabel),
                                                   .op = model::Operator::Exists,
                                                   .min_values = 3});
  cluster.add_node("a", {pod("p")}, {.type = "large"});
  EXPECT_TRUE(cluster.decide().commands.empty()) << "small and medium are two";
  cluster.pool().template_.requirements.back().min_values = 2;
  EXPECT_THAT(only_command(cluster).replacements.at(0).instance_types, SizeIs(2));
}

TEST(Consolidation, MergesSeveralNodesIntoOneCheaper) {
  // No two of them would pay: $2 for $2. All three would: $2 for $3.
  Cluster cluster;
  for (const auto* name : {"a", "b", "c"}) {
    cluster.add_node(name, {pod(std::string("p-") + name, 1200)}, {.type = "small"});
  }
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, ElementsAre("a-claim", "b-claim", "c-claim"));
  ASSERT_THAT(command.replacements, SizeIs(1));
  EXPECT_THAT(command.replacements[0].instance_types, ElementsAre("medium"));
  EXPECT_DOUBLE_EQ(command.savings, 1);
  EXPECT_EQ(command.summary,
            "Underutilized: replace nodes a (small), b (small), c (small) by medium, saving $1/h");
  EXPECT_TRUE(still_valid(command, cluster.input()));
}

// In place of all three the cheapest plan has two new nodes, one of them like those that go: one of
// the three may as well stay. Karpenter would buy one of 16 CPUs and save less.
TEST(Consolidation, FindsTheGroupThatSavesMost) {
  Cluster cluster;
  cluster.set_types("pool", {instance_type("small", 2, 1), instance_type("medium", 4, 2),
                             instance_type("large", 8, 4), instance_type("huge", 16, 8)});
  for (const auto* name : {"a", "b", "c"}) {
    cluster.add_node(name, {pod(std::string("p-") + name, 4000)}, {.type = "large"});
  }
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, SizeIs(2)) << "no more pods are moved than the saving needs";
  ASSERT_THAT(command.replacements, SizeIs(1));
  EXPECT_THAT(command.replacements[0].instance_types.front(), "medium");
  EXPECT_DOUBLE_EQ(command.savings, 6);
  EXPECT_TRUE(still_valid(command, cluster.input()));
}

// Two nodes cost a disk and an address more than one.
TEST(Consolidation, CountsWhatNodesCostBesideTheirInstances) {
  Cluster cluster;
  cluster.set_types("pool", {instance_type("small", 2, 0.1), instance_type("medium", 4, 0.2),
                             instance_type("large", 6, 0.3)});
  cluster.add_node("a", {pod("p", 2000)}, {.type = "small"});
  cluster.add_node("b", {pod("q", 4000)}, {.type = "medium"});
  const auto saved = [&cluster] {
    const auto decisions = cluster.decide();
    return decisions.commands.empty() ? 0 : decisions.commands[0].savings;
  };
  EXPECT_EQ(saved(), 0);
  cluster.options.node_overhead = 0.1;
  EXPECT_NEAR(saved(), 0.1, 1e-9);
  auto& annotation = cluster.pool().meta.annotations["millwright.io/node-overhead"];
  annotation = "0";
  EXPECT_EQ(saved(), 0);
  annotation = "0.08";
  EXPECT_NEAR(saved(), 0.08, 1e-9);
  annotation = "0.05";
  EXPECT_EQ(saved(), 0) << "an eighth is too little for two pods that move";
  for (const auto* unreadable : {"", "a lot", "-1", "nan", "inf", "0.02 $"}) {
    annotation = unreadable;
    EXPECT_EQ(saved(), 0) << unreadable << ": nothing goes until that is mended";
  }
}

std::shared_ptr<model::Pod> job_pod(std::string name, base::Duration age) {
  auto result = pod(std::move(name));
  result->meta.owner_references[0].api_version = "batch/v1";
  result->meta.owner_references[0].kind = "Job";
  result->status.start_time = kNow - age;
  return result;
}

// Its quarter of the node costs half a dollar an hour.
TEST(Consolidation, SavesMoreThanTheWorkThatJobsLose) {
  struct Case {
    base::Duration age;
    bool goes_elsewhere;   // which saves two dollars an hour
    bool goes_on_smaller;  // which saves one
  };
  for (const auto& test : {Case{std::chrono::minutes(5), true, true}, Case{hours(1), true, true},
                           Case{hours(3), true, false}, Case{hours(5), false, false}}) {
    SCOPED_TRACE(base::format_human_duration(test.age));
    Cluster cluster;
    cluster.add_node("a", {job_pod("p", test.age)});
    EXPECT_EQ(cluster.decide().commands.empty(), !test.goes_on_smaller);
    if (!test.goes_on_smaller) {
      EXPECT_THAT(cluster.why_not("a"), HasSubstr("Pods of Jobs would begin again"));
    }
    add_keeper(cluster, "b", 1000);
    EXPECT_EQ(cluster.decide().commands.empty(), !test.goes_elsewhere);
  }
}

// The dearest nodes cannot go, so no group that begins with them can.
TEST(Consolidation, RemovesAnyNodesThatCanGoTogether) {
  Cluster cluster;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "s" + std::to_string(i);
    auto stuck = pod(name);
    stuck->spec.node_selector[std::string(model::kHostnameLabel)] = name;
    cluster.add_node(name, {stuck}, {.type = "large"});
  }
  for (const auto* name : {"x", "y", "z"}) {
    cluster.add_node(name, {pod(std::string("p-") + name)}, {.type = "small"});
  }
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, ElementsAre("x-claim", "y-claim", "z-claim"));
  EXPECT_TRUE(command.replacements.empty());
  EXPECT_DOUBLE_EQ(command.savings, 3);
  EXPECT_THAT(command.placements, SizeIs(3));
  EXPECT_TRUE(still_valid(command, cluster.input()));
  cluster.pool().budgets = {{.nodes = "2"}};
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("x-claim", "y-claim"));
}

TEST(Consolidation, MergesAsManyAsItCanOfALargeGroup) {
  Cluster cluster;
  for (int i = 0; i < 30; ++i) {
    cluster.add_node("n" + std::to_string(10 + i), {pod("p" + std::to_string(i), 900)});
  }
  const auto command = only_command(cluster);
  EXPECT_GE(command.savings, 44) << "what 24 of them save by one large, as Karpenter would find";
  EXPECT_TRUE(still_valid(command, cluster.input()));
}

TEST(Consolidation, RemovesRatherThanReplacesByATypeThatIsThereAlready) {
  // Both fit on one medium; buying a third medium to remove two would be one launch too many.
  Cluster cluster;
  cluster.add_node("a", {pod("p", 1900)});
  cluster.add_node("b", {pod("q", 1900)});
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, SizeIs(1));
  EXPECT_TRUE(command.replacements.empty());
}

// A launch may get the dearest offering: in zone "a" this would be one launch too many.
TEST(Consolidation, TakesATypeThatIsThereAlreadyOnlyIfItIsCheaperWhereverItIsLaunched) {
  Cluster cluster;
  const auto sell_half_price_in_b = [&cluster](bool in_a) {
    auto medium = instance_type("medium", 4, 2);
    for (auto& offering : medium.offerings) {
      const bool b = offering.zone() == "b";
      offering.price /= b ? 2 : 1;
      offering.available = b || in_a;
    }
    cluster.set_types("pool", {medium});
  };
  sell_half_price_in_b(true);
  cluster.add_node("a", {pod("p", 1900)});
  cluster.add_node("b", {pod("q", 1900)});
  EXPECT_THAT(only_command(cluster).claims, SizeIs(1));
  EXPECT_TRUE(only_command(cluster).replacements.empty());
  sell_half_price_in_b(false);
  EXPECT_THAT(only_command(cluster).claims, SizeIs(2));
  EXPECT_THAT(only_command(cluster).replacements, SizeIs(1));
}

TEST(Consolidation, TakesNoMoreNodesThanBudgetsAllow) {
  Cluster cluster;
  for (const auto* name : {"a", "b", "c", "d"}) {
    cluster.add_node(name, {pod(std::string("p-") + name, 500)});
  }
  add_keeper(cluster, "roomy", 1000, {.type = "large"});
  EXPECT_THAT(only_command(cluster).claims, SizeIs(4));
  cluster.pool().budgets = {{.nodes = "3", .reasons = {"Underutilized"}}};
  EXPECT_THAT(only_command(cluster).claims, SizeIs(3));
  cluster.pool().budgets = {{.nodes = "1"}};
  EXPECT_THAT(only_command(cluster).claims, SizeIs(1));
  cluster.pool().budgets = {{.nodes = "0"}};
  EXPECT_TRUE(cluster.decide().commands.empty());
  EXPECT_THAT(cluster.why_not("a"), HasSubstr("spec.disruption.budgets"));
}

TEST(Consolidation, TriesTheBestSavingPerDisruptionFirst) {
  Cluster cluster;
  cluster.pool().budgets = {{.nodes = "1"}};
  cluster.add_node("a", {pod("p1", 500), pod("p2", 500), pod("p3", 500)});
  cluster.add_node("b", {pod("q", 1500)});
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("b-claim"));
  auto important = pod("q", 1500);
  important->spec.priority = 1'000'000'000;
  cluster.node("b").record->pods = {important};
  EXPECT_THAT(only_command(cluster).claims, ElementsAre("a-claim"));
}

TEST(Consolidation, BalancedAsksTheSavingToBeWorthTheDisturbance) {
  const auto cluster_with = [](int pods) {
    Cluster cluster;
    cluster.pool().consolidation_policy = "Balanced";
    std::vector<std::shared_ptr<model::Pod>> many;
    for (int i = 0; i < pods; ++i) {
      many.push_back(pod("p" + std::to_string(i), 100));
    }
    cluster.add_node("a", many, {.type = "small"});
    add_keeper(cluster, "b", 1000, {.type = "large"});
    return cluster;
  };
  // A fifth of the cost for 2 of 4 units of disruption (each node counts one), then for 16 of 18.
  EXPECT_THAT(claims_of(cluster_with(1).decide()), SizeIs(0));
  EXPECT_THAT(cluster_with(15).why_not("a"), HasSubstr("Balanced"));
  auto unbalanced = cluster_with(15);
  unbalanced.pool().consolidation_policy = "WhenEmptyOrUnderutilized";
  EXPECT_THAT(claims_of(unbalanced.decide()), SizeIs(1));
  auto worth_it = cluster_with(1);
  for (int i = 0; i < 8; ++i) {
    worth_it.node("b").record->pods.push_back(pod("r" + std::to_string(i), 10));
  }
  EXPECT_THAT(claims_of(worth_it.decide()), SizeIs(1)) << "a fifth of the cost, 2 of 12 units";
}

TEST(Consolidation, LooksAtEveryNodeInTurnWhenThereAreTooMany) {
  // Nine dear nodes that cannot go and a cheap one that can, four looked at in each pass.
  Cluster cluster;
  cluster.options.max_single_node_candidates = 4;
  for (int i = 0; i < 9; ++i) {
    auto stuck = pod("s" + std::to_string(i));
    stuck->spec.node_selector[std::string(model::kHostnameLabel)] = "s" + std::to_string(i);
    cluster.add_node("s" + std::to_string(i), {stuck}, {.type = "large"});
  }
  cluster.add_node("z", {pod("p")}, {.type = "small"});
  int found = 0;
  for (int pass = 0; pass < 8; ++pass) {
    cluster.now = kNow + seconds(10 * pass);
    found += cluster.decide().commands.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 8);
}

}  // namespace
}  // namespace millwright::disruption
