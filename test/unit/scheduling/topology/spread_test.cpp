// topologySpreadConstraints: kube-scheduler's PodTopologySpread, planned ahead.
#include "topology_builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Runs in the zone, bound and counted.
NodeBuilder in_zone(const std::string& name, const std::string& zone) {
  return node(name).label(kZone, zone).allocatable("cpu", "100m").allocatable("pods", "50");
}

TEST(ZoneSpread, BalancesOverTheZonesOfThePool) {
  const auto problem = with_pool().add(pods(7, "w", web("w").with(spreads(spread_over(kZone, 1)))));
  EXPECT_THAT(per_domain(problem, kZone),
              ElementsAre(Pair("test-zone-1", 3), Pair("test-zone-2", 2), Pair("test-zone-3", 2)));
}

TEST(ZoneSpread, KeepsToTheZonesThatThePoolAllows) {
  const auto problem =
      with_pool(pool("p").requires_(need(kZone, Operator::In, {"test-zone-1", "test-zone-2"})))
          .add(pods(4, "w", web("w").with(spreads(spread_over(kZone, 1)))));
  EXPECT_THAT(per_domain(problem, kZone),
              ElementsAre(Pair("test-zone-1", 2), Pair("test-zone-2", 2)));
}

TEST(ZoneSpread, JoinsTheZonesOfAllPools) {
  const auto problem =
      with_pool(pool("a").requires_(need(kZone, Operator::In, {"test-zone-1"})))
          .add(pool("b").requires_(need(kZone, Operator::In, {"test-zone-2", "test-zone-3"})),
               three_sizes())
          .add(pods(6, "w", web("w").with(spreads(spread_over(kZone, 1)))));
  EXPECT_THAT(per_domain(problem, kZone),
              ElementsAre(Pair("test-zone-1", 2), Pair("test-zone-2", 2), Pair("test-zone-3", 2)));
}

TEST(ZoneSpread, CountsPodsThatRun) {
  const auto problem = with_pool()
                           .add(in_zone("n", "test-zone-1").runs(web("a")).runs(web("b")))
                           .add(pods(4, "w", web("w").with(spreads(spread_over(kZone, 1)))));
  EXPECT_THAT(per_domain(problem, kZone),
              ElementsAre(Pair("test-zone-2", 2), Pair("test-zone-3", 2)));
}

// Room for so many such pods, none of which is to be placed.
KeptRoom kept_for(std::string target, const PodBuilder& sample, std::int32_t pods) {
  return {.target = std::move(target), .pod_uid = {}, .sample = sample, .pods = pods};
}

TEST(ZoneSpread, CountsPodsWhosePlacesAreKept) {
  const auto like = web("w").with(spreads(spread_over(kZone, 1)));
  const auto keep = [&](std::vector<KeptRoom> kept) {
    return per_domain(with_pool()
                          .add(in_zone("n", "test-zone-1"))
                          .add(unlaunched("claim", {"test-zone-2"}))
                          .add(unlaunched("anywhere", {"test-zone-1", "test-zone-2"}))
                          .add(pods(3, "w", like))
                          .with([&](Problem& problem) {
                            auto cluster = std::make_shared<Snapshot>();
                            cluster->nodes = problem.nodes;
                            problem.cluster = cluster;
                            problem.nodes.resize(1);  // claims that take no more pods
                            problem.kept = std::move(kept);
                          }),
                      kZone);
  };
  EXPECT_THAT(keep({kept_for("n", like, 2)}),
              ElementsAre(Pair("test-zone-2", 2), Pair("test-zone-3", 1)));
  EXPECT_THAT(keep({kept_for("n", like, 1), kept_for("claim-claim", like, 2)}),
              ElementsAre(Pair("test-zone-1", 1), Pair("test-zone-3", 2)));
  EXPECT_THAT(keep({kept_for("claim-anywhere", like, 5)}), SizeIs(3)) << "it may be anywhere";
  EXPECT_THAT(keep({kept_for("gone", like, 5)}), SizeIs(3));
  EXPECT_THAT(keep({kept_for("n", pod("other"), 5)}), SizeIs(3));
}

TEST(ZoneSpread, CountsPodsThatLeaveForKeptRoomThereAlone) {
  const auto like = web("w").with(spreads(spread_over(kZone, 1)));
  const auto per_zone = [&](bool depart) {
    return per_domain(with_pool()
                          .add(in_zone("old", "test-zone-1").runs(web("a")).runs(web("b")))
                          .add(in_zone("new", "test-zone-2"))
                          .add(pods(2, "w", like))
                          .with([&](Problem& problem) {
                            problem.kept = {kept_for("new", like, 2)};
                            if (depart) {
                              problem.departing = problem.nodes.front()->pods;
                            }
                          }),
                      kZone);
  };
  EXPECT_THAT(per_zone(true), ElementsAre(Pair("test-zone-1", 1), Pair("test-zone-3", 1)));
  EXPECT_THAT(per_zone(false), ElementsAre(Pair("test-zone-3", 2)));
}

TEST(HostSpread, CountsPodsWhosePlacesAreKept) {
  const auto like = web("w").with(spreads(spread_over(kHost, 1)));
  const auto place = [&](std::int32_t kept) {
    return place_of(with_pool()
                        .add(node("n"))
                        .add(like)
                        .with([&](Problem& p) { p.kept = {kept_for("n", like, kept)}; })
                        .solve(),
                    "w");
  };
  EXPECT_EQ(place(0), "n");
  EXPECT_EQ(place(1), "claim 0");
}

TEST(ZoneSpread, CountsOnlyLivePodsOfItsNamespaceThatMatch) {
  const auto elsewhere = web("a").with([](model::Pod& p) { p.meta.namespace_ = "other"; });
  const auto leaving = web("b").with(
      [](model::Pod& p) { p.meta.deletion_timestamp = base::TimePoint(std::chrono::seconds(1)); });
  const auto other = pod("c").label("app", "db");
  const auto problem =
      with_pool()
          .add(in_zone("n", "test-zone-1").runs(elsewhere).runs(leaving).runs(other))
          .add(pods(3, "w", web("w").with(spreads(spread_over(kZone, 1)))));
  EXPECT_THAT(per_domain(problem, kZone),
              ElementsAre(Pair("test-zone-1", 1), Pair("test-zone-2", 1), Pair("test-zone-3", 1)));
}

TEST(ZoneSpread, KnowsZonesThatOnlyNodesHave) {
  // No pool reaches zone 9, but its node makes it a domain, and it stays empty: it has no room.
  const auto problem = with_pool()
                           .add(in_zone("n", "test-zone-9").allocatable("cpu", "50m"))
                           .add(pods(6, "w", web("w").with(spreads(spread_over(kZone, 1)))));
  EXPECT_THAT(problem.solve().refusals, SizeIs(3));
}

TEST(ZoneSpread, AllowsTheSkewItNames) {
  const auto problem = with_pool(pool("p").requires_(need(kZone, Operator::In, {"test-zone-1"})))
                           .add(in_zone("n", "test-zone-2"))
                           .add(pods(6, "w", web("w").with(spreads(spread_over(kZone, 3)))));
  const Plan plan = problem.solve();
  EXPECT_THAT(per_domain(problem.problem(), plan, kZone),
              ElementsAre(Pair("test-zone-1", 4), Pair("test-zone-2", 1)))
      << "one fits on the node, which raises the least to 1";
  EXPECT_THAT(plan.refusals, SizeIs(1));
}

TEST(ZoneSpread, RefusalNamesTheSkewThatWouldDo) {
  const auto problem =
      with_pool()
          .add(in_zone("n", "test-zone-1").runs(web("a")))
          .add(in_zone("elsewhere", "test-zone-2"))
          .add(web("p").selects("kubernetes.io/arch", "amd64").with([](model::Pod& p) {
            auto constraint = spread_over(kZone, 1);
            constraint.node_affinity_policy = "Ignore";
            p.spec.topology_spread.push_back(constraint);
            p.spec.node_selector[std::string(kZone)] = "test-zone-1";
          }));
  const Plan plan = problem.solve();
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("test-zone-1 with 1"));
  EXPECT_EQ(plan.refusals[0].remedy,
            "raise maxSkew to 2, or use whenUnsatisfiable: ScheduleAnyway");
}

// Pods of one NodePool in zones 1 and 2 are not compared with zone 3, where another one has nodes.
TEST(ZoneSpread, ZonesOfNodesThatItDoesNotCountDoNotCount) {
  const auto problem =
      with_pool(pool("general"))
          .add(pool("gpu").requires_(need(kZone, Operator::In, {"test-zone-1", "test-zone-2"})),
               three_sizes())
          .add(in_zone("n", "test-zone-3").label(model::kNodePoolLabel, "general"))
          .add(pods(
              6, "w",
              web("w").selects(model::kNodePoolLabel, "gpu").with(spreads(spread_over(kZone, 1)))));
  EXPECT_THAT(per_domain(problem, kZone),
              ElementsAre(Pair("test-zone-1", 3), Pair("test-zone-2", 3)));
}

// An instance type that the pods do not admit is no reason to wait for a node in its zone.
TEST(ZoneSpread, ZonesOfInstanceTypesThatItDoesNotCountDoNotCount) {
  const auto sold =
      types({type("arm").arch("arm64").sold({{"test-zone-1", "on-demand"}}),
             type("x86").sold({{"test-zone-1", "on-demand"}, {"test-zone-2", "on-demand"}})});
  const auto problem =
      ProblemBuilder()
          .add(pool("default"), sold)
          .add(in_zone("n", "test-zone-2").label(model::kArchLabel, "amd64"))
          .add(pods(
              3, "w",
              web("w").selects(model::kArchLabel, "arm64").with(spreads(spread_over(kZone, 1)))));
  EXPECT_THAT(per_domain(problem, kZone), ElementsAre(Pair("test-zone-1", 3)));
}

// The NodePool has a machine there, but it is too small, and the nodes there are another's.
TEST(ZoneSpread, ZonesOutOfReachWithNodesThatItDoesNotCountDoNotCountInTheEnd) {
  const auto sold = types({type("large").cpu("4").sold({{"test-zone-1", "on-demand"}}),
                           type("small").cpu("1").sold({{"test-zone-2", "on-demand"}})});
  const auto per_zone = [&](const NodeBuilder& other) {
    return per_domain(ProblemBuilder()
                          .add(pool("gpu"), sold)
                          .add(in_zone("here", "test-zone-1").label(model::kNodePoolLabel, "gpu"))
                          .add(other)
                          .add(pods(3, "w",
                                    web("w")
                                        .cpu("2")
                                        .selects(model::kNodePoolLabel, "gpu")
                                        .with(spreads(spread_over(kZone, 1))))),
                      kZone);
  };
  const auto there = in_zone("there", "test-zone-2");
  EXPECT_THAT(per_zone(NodeBuilder(there).label(model::kNodePoolLabel, "general")),
              ElementsAre(Pair("test-zone-1", 3)));
  EXPECT_THAT(per_zone(NodeBuilder(there).label(model::kNodePoolLabel, "gpu")),
              ElementsAre(Pair("test-zone-1", 1)));
}

// The pod compares with zone 2, where it could get a node, and goes there: only other nodes are
// there now. What made it wait is that no spot machine is large enough.
TEST(ZoneSpread, ZonesWithinReachAreOpenInTheEnd) {
  const auto like = web("w").cpu("2").selects(model::kNodePoolLabel, "gpu");
  const auto problem =
      ProblemBuilder()
          .add(pool("gpu"), types({type("large").cpu("4").sold({{"test-zone-1", "on-demand"},
                                                                {"test-zone-2", "on-demand"}}),
                                   type("small").cpu("1").sold({{"test-zone-1", "spot"}})}))
          .add(in_zone("here", "test-zone-1")
                   .label(model::kNodePoolLabel, "gpu")
                   .label(model::kCapacityTypeLabel, "on-demand")
                   .runs(web("a")))
          .add(in_zone("there", "test-zone-2").label(model::kNodePoolLabel, "general"))
          .add(PodBuilder(like)
                   .with(spreads(spread_over(kZone, 1)))
                   .with(spreads(spread_over(model::kCapacityTypeLabel, 1))));
  EXPECT_THAT(per_domain(problem, kZone), ElementsAre(Pair("test-zone-2", 1)));
}

// Pods that want arm64 are not compared with zone 3, where only amd64 runs and no arm64 machine is
// large enough. So nothing may give that zone an arm64 node in the end, though it would be cheapest
// for the other pod: kube-scheduler would hold back what was placed by then.
TEST(ZoneSpread, NothingGivesANodeToAZoneThatOthersAreNotComparedWith) {
  const auto arm = spread_over(kZone, 1, {{"app", "arm"}});
  const auto any = spread_over(kZone, 1, {{"app", "any"}});
  const auto runs_both = [](const std::string& name, const std::string& zone) {
    return in_zone(name, zone)
        .label(model::kArchLabel, "arm64")
        .runs(pod(name + "-arm").label("app", "arm"))
        .runs(pod(name + "-any").label("app", "any"));
  };
  const auto problem =
      ProblemBuilder()
          .add(pool("default"),
               types({type("large").cpu("4").arch("arm64").sold(
                          {{"test-zone-1", "on-demand"}, {"test-zone-2", "on-demand"}}),
                      type("small").cpu("2").arch("arm64").sold({{"test-zone-3", "on-demand"}}),
                      type("tiny").cpu("1").sold({{"test-zone-4", "on-demand"}})}))
          .add(runs_both("one", "test-zone-1"))
          .add(runs_both("two", "test-zone-2"))
          .add(in_zone("three", "test-zone-3")
                   .label(model::kArchLabel, "amd64")
                   .runs(pod("three-any").label("app", "any")))
          .add(pods(2, "arm",
                    pod("arm")
                        .label("app", "arm")
                        .cpu("3")
                        .selects(model::kArchLabel, "arm64")
                        .with(spreads(arm))))
          .add(pod("any").label("app", "any").cpu("1500m").with(spreads(any)));
  EXPECT_THAT(per_domain(problem, kZone, "arm"),
              ElementsAre(Pair("test-zone-1", 1), Pair("test-zone-2", 1)));
  EXPECT_THAT(per_domain(problem, kZone, "any"),
              ElementsAre(Pair(::testing::StartsWith("test-zone-"), 1)));
  EXPECT_EQ(per_domain(problem, kZone, "any").count("test-zone-3"), 0U);
}

// kube-scheduler compares with domains that have nodes, Karpenter with those that the pod may go
// to.
TEST(ZoneSpread, ZonesWithoutNodesThatThePodCannotGoToDoNotCountInTheEnd) {
  const auto stuck = [](const std::string& name) {
    return web(name).with([](model::Pod& p) {
      auto constraint = spread_over(kZone, 1);
      constraint.node_affinity_policy = "Ignore";
      p.spec.topology_spread.push_back(constraint);
      p.spec.node_selector[std::string(kZone)] = "test-zone-1";
    });
  };
  auto problem = with_pool().add(stuck("a")).add(stuck("b")).add(stuck("c"));
  EXPECT_THAT(problem.solve().refusals, SizeIs(0));
  // Another pod's node makes its zone count, also one that is only being bought.
  problem.add(pod("other").selects(kZone, "test-zone-2"));
  EXPECT_THAT(problem.solve().refusals, SizeIs(2));
}

// Nor is a zone passed over that the pod may go to, only because nothing is on sale there just now.
TEST(ZoneSpread, ZonesThatThePodMayGoToCountThoughNothingIsSoldThere) {
  const auto spread = [](const std::string& name) {
    return web(name).with(spreads(spread_over(kZone, 1)));
  };
  const auto sold_out = types({type("here").sold({{"test-zone-1", "on-demand"}}),
                               type("there").sold({{"test-zone-2", "on-demand"}}).unavailable()});
  const Plan plan =
      ProblemBuilder().add(pool("default"), sold_out).add(spread("a")).add(spread("b")).solve();
  EXPECT_THAT(plan.refusals, SizeIs(1));
}

// A zone where no instance type would ever hold the pod gets no node for it, so nothing is gained
// by waiting.
TEST(ZoneSpread, ZonesWhereNoTypeCouldHoldThePodDoNotCountInTheEnd) {
  const auto problem_with = [](std::string_view cpu_in_zone_1) {
    return ProblemBuilder()
        .add(pool("default"),
             types({type("here").cpu(cpu_in_zone_1).sold({{"test-zone-1", "on-demand"}}),
                    type("there").cpu("4").sold({{"test-zone-2", "on-demand"}})}))
        .add(pods(3, "w", web("w").cpu("2").with(spreads(spread_over(kZone, 1)))));
  };
  EXPECT_THAT(per_domain(problem_with("1"), kZone), ElementsAre(Pair("test-zone-2", 3)));
  EXPECT_THAT(per_domain(problem_with("4"), kZone),
              ElementsAre(Pair("test-zone-1", 2), Pair("test-zone-2", 1)));
}

// What a claim does not say, its instance types may: none has the architecture that would make the
// claims in zone 1 count.
TEST(ZoneSpread, NodeAffinityThatNoInstanceTypeMeetsCountsNobody) {
  constexpr auto kRack = "example.com/rack";
  const auto in_rack = [&](const std::string& rack) {
    return web("w").selects(kZone, "test-zone-1").selects(kRack, rack);
  };
  const auto problem =
      with_pool(pool("default").requires_(need(kRack, Operator::In, {"r1", "r2"})))
          .add(pods(2, "one", in_rack("r1")))
          .add(pods(2, "two", in_rack("r2")))
          .add(pod("p")
                   .cpu("50m")
                   .requires_term({need(model::kArchLabel, Operator::In, {"arm64"})})
                   .requires_term({need(kZone, Operator::NotIn, {"test-zone-1"})})
                   .with(spreads(spread_over(kRack, 1))));
  EXPECT_THAT(problem.solve().refusals, IsEmpty());
}

// Pods that their own constraint does not count go to any domain that it allows: to the emptiest
// alone they may pay more.
TEST(ZoneSpread, PodsThatItDoesNotCountShareTheMachineThatIsCheapestForAll) {
  const auto sold = types(
      {type("single").cpu("2").memory("4Gi").sold({{"test-zone-1", "on-demand"}}).price(0.38),
       type("shared").cpu("8").memory("24Gi").sold({{"test-zone-2", "on-demand"}}).price(0.8)});
  const auto like =
      pod("p").cpu("100m").memory("3Gi").with(spreads(spread_over(kZone, 2, {{"app", "other"}})));
  const Plan plan = ProblemBuilder().add(pool("default"), sold).add(pods(4, "p", like)).solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(plan.claims, SizeIs(1));
}

TEST(ZoneSpread, HonoursNodeAffinityByDefault) {
  // Only zone 1 counts for a pod that may go nowhere else.
  const auto problem =
      with_pool()
          .add(in_zone("n", "test-zone-1").runs(web("a")).runs(web("b")))
          .add(web("p").selects(kZone, "test-zone-1").with(spreads(spread_over(kZone, 1))));
  EXPECT_THAT(problem.solve().refusals, IsEmpty());
}

TEST(ZoneSpread, MinDomainsHoldsBackUntilThereAreEnough) {
  for (const int wanted : {2, 3, 4}) {
    auto constraint = spread_over(kZone, 1);
    constraint.min_domains = wanted;
    const auto problem = with_pool().add(pods(6, "w", web("w").with(spreads(constraint))));
    EXPECT_THAT(problem.solve().refusals, SizeIs(wanted > 3 ? 3 : 0)) << wanted;
  }
}

TEST(ZoneSpread, TellsWorkloadsApartByMatchLabelKeys) {
  auto constraint = spread_over(kZone, 1);
  constraint.match_label_keys = {"revision", "absent"};
  const auto of = [&](const std::string& revision) {
    return web("w").label("revision", revision).with(spreads(constraint));
  };
  const auto problem = with_pool().add(pods(3, "a", of("1"))).add(pods(3, "b", of("2")));
  for (const char* prefix : {"a", "b"}) {
    EXPECT_THAT(
        per_domain(problem, kZone, prefix),
        ElementsAre(Pair("test-zone-1", 1), Pair("test-zone-2", 1), Pair("test-zone-3", 1)));
  }
}

TEST(ZoneSpread, TellsWorkloadsApartByMinDomains) {
  // Karpenter shares one group among constraints that differ in minDomains only.
  auto strict = spread_over(kZone, 1);
  strict.min_domains = 4;
  const auto problem = with_pool()
                           .add(pods(6, "a", web("w").with(spreads(spread_over(kZone, 1)))))
                           .add(pods(1, "b", web("w").with(spreads(strict))));
  EXPECT_THAT(problem.solve().refusals, SizeIs(1));
}

TEST(ZoneSpread, TaintsPolicyDecidesWhichDomainsCount) {
  // Zone 3 belongs to a tainted pool that the pods may not use.
  const auto problem_with = [](const std::string& policy) {
    auto constraint = spread_over(kZone, 1);
    constraint.node_taints_policy = policy;
    return with_pool(pool("a").requires_(need(kZone, Operator::In, {"test-zone-1", "test-zone-2"})))
        .add(pool("b")
                 .requires_(need(kZone, Operator::In, {"test-zone-3"}))
                 .taint("dedicated", "x", "NoSchedule"),
             three_sizes())
        .add(pods(6, "w", web("w").with(spreads(constraint))));
  };
  EXPECT_THAT(problem_with("Honor").solve().refusals, IsEmpty());
  EXPECT_THAT(problem_with("Ignore").solve().refusals, SizeIs(4));
}

TEST(ZoneSpread, InvalidAndAbsentSelectorsCountNothing) {
  auto absent = spread_over(kZone, 1);
  absent.label_selector.reset();
  auto invalid = spread_over(kZone, 1);
  invalid.label_selector = model::LabelSelector{.match_expressions = {need("app", Operator::In)}};
  for (const auto& constraint : {absent, invalid}) {
    const auto problem = with_pool().add(pods(5, "w", web("w").with(spreads(constraint))));
    EXPECT_THAT(problem.solve().refusals, IsEmpty());
    EXPECT_THAT(problem.solve().claims, SizeIs(1));
  }
}

TEST(ZoneSpread, UnknownKeyCannotBeMet) {
  const auto problem = with_pool().add(web("p").with(spreads(spread_over("example.com/rack", 1))));
  const Plan plan = problem.solve();
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("example.com/rack"));
}

TEST(ZoneSpread, CountsPodsThatAreNotHeldToIt) {
  // Plain pods that the selector matches are given a zone before those who are spread by it.
  const auto problem = with_pool()
                           .add(pods(2, "plain", web("x").cpu("1900m")))
                           .add(pods(4, "w", web("w").with(spreads(spread_over(kZone, 1)))));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  const auto all = per_domain(problem.problem(), plan, kZone);
  EXPECT_EQ(all.count("?"), 0u);
  for (const auto& [zone, count] : all) {
    EXPECT_EQ(count, 2) << zone;
  }
}

TEST(HostSpread, LimitsPodsPerNode) {
  for (const int skew : {1, 4}) {
    const auto problem =
        with_pool().add(pods(8, "w", web("w").with(spreads(spread_over(kHost, skew)))));
    const Plan plan = problem.solve();
    EXPECT_THAT(plan.claims, SizeIs(8 / skew));
    for (const auto& claim : plan.claims) {
      EXPECT_THAT(claim.pod_uids, SizeIs(skew));
    }
  }
}

TEST(HostSpread, CountsPodsOnExistingNodes) {
  const auto problem = with_pool()
                           .add(node("a").runs(web("x")))
                           .add(node("b"))
                           .add(pods(2, "w", web("w").with(spreads(spread_over(kHost, 1)))));
  EXPECT_THAT(per_domain(problem, kHost), UnorderedElementsAre(Pair("b", 1), Pair("claim 0", 1)));
}

TEST(Spread, OverSeveralKeysHoldsForEach) {
  const auto like = web("w")
                        .with(spreads(spread_over(kZone, 1)))
                        .with(spreads(spread_over(kHost, 2)))
                        .with(spreads(spread_over(model::kCapacityTypeLabel, 1)));
  const auto problem =
      with_pool(pool("p").requires_(need(kZone, Operator::In, {"test-zone-1", "test-zone-2"})))
          .add(pods(12, "w", like));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(per_domain(problem.problem(), plan, kZone),
              ElementsAre(Pair("test-zone-1", 6), Pair("test-zone-2", 6)));
  EXPECT_THAT(per_domain(problem.problem(), plan, model::kCapacityTypeLabel),
              ElementsAre(Pair("on-demand", 6), Pair("spot", 6)));
  for (const auto& claim : plan.claims) {
    EXPECT_LE(claim.pod_uids.size(), 2u);
  }
}

TEST(Spread, OverAKeyOfThePoolsOwn) {
  const auto problem =
      with_pool(pool("p").requires_(need("example.com/rack", Operator::In, {"a", "b"})))
          .add(pods(4, "w", web("w").with(spreads(spread_over("example.com/rack", 1)))));
  EXPECT_THAT(per_domain(problem, "example.com/rack"), ElementsAre(Pair("a", 2), Pair("b", 2)));
}

TEST(ScheduleAnyway, IsHeededWhilePossible) {
  const auto like =
      web("w").with(spreads(spread_over(kZone, 1, {{"app", "web"}}, "ScheduleAnyway")));
  EXPECT_THAT(per_domain(with_pool().add(pods(3, "w", like)), kZone),
              ElementsAre(Pair("test-zone-1", 1), Pair("test-zone-2", 1), Pair("test-zone-3", 1)));
  const auto one_zone = with_pool(pool("p").requires_(need(kZone, Operator::In, {"test-zone-1"})))
                            .add(in_zone("n", "test-zone-2").allocatable("cpu", "10m"))
                            .add(pods(3, "w", like));
  EXPECT_THAT(one_zone.solve().refusals, IsEmpty());
}

TEST(ScheduleAnyway, IsNotLookedAtWhenPreferencesAreIgnored) {
  const auto like =
      web("w").with(spreads(spread_over(kZone, 1, {{"app", "web"}}, "ScheduleAnyway")));
  const auto problem = with_pool().add(pods(3, "w", like)).with([](Problem& p) {
    p.options.preferences = PreferencePolicy::Ignore;
  });
  EXPECT_THAT(problem.solve().claims, SizeIs(1));
}

}  // namespace
}  // namespace millwright::scheduling::testing
