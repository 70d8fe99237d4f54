// What a planned claim carries: PRV-05, 08, 09, and the NodeClaim made from it.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

PlannedClaim only_claim(const PoolBuilder& where, const PodBuilder& who,
                        InstanceTypes what = three_sizes()) {
  const Plan plan = ProblemBuilder().add(where, std::move(what)).add(who).solve();
  return plan.claims.size() == 1 ? plan.claims[0] : PlannedClaim{};
}

TEST(PlannedClaim, RequirementsNameTypesCapacityTypesPoolAndClassAndNothingMadeUp) {
  const auto claim =
      only_claim(pool("default"), pod("p").selects(model::kZoneLabel, "test-zone-3"));
  EXPECT_EQ(claim.requirements.to_string(),
            "karpenter.kwok.sh/kwoknodeclass In [default], "
            "karpenter.sh/capacity-type In [on-demand], karpenter.sh/nodepool In [default], "
            "node.kubernetes.io/instance-type In [large medium small], "
            "topology.kubernetes.io/zone In [test-zone-3]");
  EXPECT_EQ(claim.requirements.find(model::kHostnameLabel), nullptr);
}

TEST(PlannedClaim, CapacityTypesAreThoseThatCanBeBought) {
  const auto claim = only_claim(pool("default"), pod("p"));
  EXPECT_THAT(values_of(claim, model::kCapacityTypeLabel), ElementsAre("on-demand", "spot"));
}

TEST(PlannedClaim, LabelsComeFromThePoolAndFromCustomRequirements) {
  const auto claim = only_claim(
      pool("default")
          .label("team", "a")
          .requires_(need("tier", Operator::In, {"z", "b"}))
          .requires_(need("rank", Operator::Gt, {"4"}))
          .requires_(need("free", Operator::Exists))
          .requires_(need("shelf", Operator::NotIn, {"0", "1"}))
          .requires_(need("gone", Operator::DoesNotExist))
          .requires_(need(model::kZoneLabel, Operator::In, {"test-zone-1", "test-zone-2"})),
      pod("p"));
  EXPECT_EQ(claim.labels, (model::StringMap{{"team", "a"},
                                            {"tier", "b"},
                                            {"rank", "5"},
                                            {"free", "0"},

                                            {"karpenter.sh/nodepool", "default"},
                                            {"karpenter.kwok.sh/kwoknodeclass", "default"}}));
}

TEST(PlannedClaim, AnnotationsCarryThePoolsHashAtPlanningTime) {
  const std::shared_ptr<const model::NodePool> source =
      pool("default").with([](model::NodePool& p) {
        p.template_.annotations = model::StringMap{{"note", "x"}};
      });
  Problem problem;
  problem.pools.push_back({source, three_sizes()});
  problem.pods.push_back(pod("p"));
  const Plan plan = solve(problem);
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_EQ(
      plan.claims[0].annotations,
      (model::StringMap{{"note", "x"},
                        {"karpenter.sh/nodepool-hash", model::nodepool_hash(source->template_)},
                        {"karpenter.sh/nodepool-hash-version", "v3"},
                        {"karpenter.sh/nodeclaim-min-values-relaxed", "false"}}));
}

TEST(PlannedClaim, PriceIsThatOfTheCheapestOption) {
  const auto claim =
      only_claim(pool("default"), pod("p"), types({type("a").price(3), type("b").price(2)}));
  EXPECT_THAT(claim.instance_types, ElementsAre("b", "a"));
  EXPECT_EQ(claim.price, 2);
}

TEST(PlannedClaim, TiesInPriceGoByName) {
  EXPECT_THAT(only_claim(pool("default"), pod("p"),
                         types({type("c").price(1), type("a").price(1), type("b").price(1)}))
                  .instance_types,
              ElementsAre("a", "b", "c"));
}

TEST(PlannedClaim, HasNoMoreTypesThanAllowedTheCheapestOnes) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), numbered_types(30))
                        .add(pod("p"))
                        .with([](Problem& problem) { problem.options.max_instance_types = 3; })
                        .solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(plan.claims[0].instance_types, ElementsAre("fake-it-0", "fake-it-1", "fake-it-2"));
  EXPECT_THAT(values_of(plan.claims[0], model::kInstanceTypeLabel), SizeIs(3));
}

TEST(PlannedClaim, ListsNoTypeThatCostsMoreThanSoManyTimesTheCheapest) {
  const auto listed = [](double ratio, std::int32_t min_values, double node_overhead) {
    const Plan plan = ProblemBuilder()
                          .add(pool("default").requires_(need(model::kInstanceTypeLabel,
                                                              Operator::Exists, {}, min_values)),
                               types({type("a").price(1), type("b").price(1.5), type("c").price(2),
                                      type("d").price(2.1), type("e").price(9)}))
                          .add(pod("p"))
                          .with([&](Problem& problem) {
                            problem.pools.front().max_price_ratio = ratio;
                            problem.pools.front().node_overhead = node_overhead;
                          })
                          .solve();
    std::vector<std::string> names;
    for (const PlannedClaim& claim : plan.claims) {
      names = claim.instance_types.list();
      auto values = values_of(claim, model::kInstanceTypeLabel);
      std::sort(values.begin(), values.end());
      EXPECT_EQ(values, names);
    }
    return names;
  };
  EXPECT_THAT(listed(0, 1, 0), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(listed(1, 1, 0), ElementsAre("a"));
  EXPECT_THAT(listed(2, 1, 0), ElementsAre("a", "b", "c"));
  EXPECT_THAT(listed(2, 1, 5), ElementsAre("a", "b", "c"));         // of instances, not of nodes
  EXPECT_THAT(listed(1.2, 4, 0), ElementsAre("a", "b", "c", "d"));  // minValues comes first
  EXPECT_THAT(listed(100, 1, 0), ElementsAre("a", "b", "c", "d", "e"));
}

TEST(PlannedClaim, LeavesOutTheDearestBeyondSixHundredTypes) {
  const auto plan_with = [](std::int32_t min_values) {
    return ProblemBuilder()
        .add(pool("default").requires_(
                 need(model::kInstanceTypeLabel, Operator::Exists, {}, min_values)),
             numbered_types(650))
        .add(pod("p"))
        .solve();
  };
  const Plan plan = plan_with(600);
  ASSERT_THAT(plan.claims, SizeIs(1));
  ASSERT_THAT(plan.claims[0].instance_types, SizeIs(600));
  EXPECT_EQ(plan.claims[0].instance_types.list().front(), "fake-it-0");
  EXPECT_EQ(plan.claims[0].instance_types.list().back(), "fake-it-599");
  EXPECT_THAT(values_of(plan.claims[0], model::kInstanceTypeLabel), SizeIs(600));
  // All 650 would have met it, but no claim may name them all.
  const Plan dropped = plan_with(601);
  ASSERT_THAT(dropped.refusals, SizeIs(1));
  EXPECT_THAT(dropped.refusals[0].reason, HasSubstr("of the 600 cheapest instance types"));
  EXPECT_EQ(dropped.refusals[0].remedy,
            "lower minValues of node.kubernetes.io/instance-type to 600 in NodePool default");
}

TEST(PlannedClaim, BecomesANodeClaimOfThePool) {
  const std::shared_ptr<const model::NodePool> source =
      pool("default").taint("k", "v", "NoSchedule").with([](model::NodePool& p) {
        p.meta.uid = "uid-1";
        p.template_.startup_taints.emplace().push_back({.key = "s", .effect = "NoExecute"});
        p.template_.expire_after.text = "720h";
        p.template_.termination_grace_period.text = "30s";
      });
  Problem problem;
  problem.pools.push_back({source, three_sizes()});
  problem.pods.push_back(pod("p").cpu("1").tolerates_everything());
  const Plan plan = solve(problem);
  ASSERT_THAT(plan.claims, SizeIs(1));
  const auto claim = to_node_claim(plan.claims[0], *source);
  EXPECT_EQ(claim.meta.generate_name, "default-");
  EXPECT_EQ(claim.meta.name, "");
  EXPECT_EQ(claim.meta.labels, plan.claims[0].labels);
  EXPECT_EQ(claim.meta.annotations, plan.claims[0].annotations);
  ASSERT_THAT(claim.meta.owner_references, SizeIs(1));
  EXPECT_EQ(claim.meta.owner_references[0], (model::OwnerReference{.api_version = "karpenter.sh/v1",
                                                                   .kind = "NodePool",
                                                                   .name = "default",
                                                                   .uid = "uid-1",
                                                                   .block_owner_deletion = true}));
  EXPECT_EQ(claim.taints, source->template_.taints);
  EXPECT_EQ(claim.startup_taints, source->template_.startup_taints);
  EXPECT_EQ(claim.expire_after.text, "720h");
  EXPECT_EQ(claim.termination_grace_period.text, "30s");
  EXPECT_EQ(claim.node_class_ref, source->template_.node_class_ref);
  EXPECT_EQ(claim.requests, plan.claims[0].requests);
  EXPECT_EQ(claim.requirements, plan.claims[0].requirements.to_selectors());
}

// --- minValues ---------------------------------------------------------------------------------

struct MinValuesCase {
  std::string what;
  model::SelectorRequirement requirement;
  bool satisfied;
};

TEST(MinValues, MustBeMetByTheTypesThatAreLeft) {
  const std::string name(model::kInstanceTypeLabel);
  const auto list = [] {
    return types({type("a").cpu("1").label("gen", {"1"}), type("b").cpu("2").label("gen", {"2"}),
                  type("c").cpu("4").label("gen", {"3"})});
  };
  const std::vector<MinValuesCase> cases = {
      {"In", need(name, Operator::In, {"a", "b", "c"}, 2), true},
      {"In, too few left", need(name, Operator::In, {"a", "b"}, 2), false},
      {"Exists", need(name, Operator::Exists, {}, 2), true},
      {"Exists, too many wanted", need(name, Operator::Exists, {}, 3), false},
      {"NotIn", need(name, Operator::NotIn, {"a"}, 2), true},
      {"Gt", need("gen", Operator::Gt, {"1"}, 2), true},
      {"Gt, too few", need("gen", Operator::Gt, {"2"}, 2), false},
      {"Lt", need("gen", Operator::Lt, {"4"}, 2), true},
      {"Lt, too few", need("gen", Operator::Lt, {"3"}, 2), false},
  };
  // The pod needs 1.5 CPUs: "a" is never an option.
  for (const auto& test : cases) {
    const Plan plan = ProblemBuilder()
                          .add(pool("default").requires_(test.requirement), list())
                          .add(pod("p").cpu("1500m"))
                          .solve();
    EXPECT_EQ(plan.claims.size() == 1, test.satisfied) << test.what;
  }
}

TEST(MinValues, OfOneKeyTheLargestCounts) {
  const auto where = pool("default")
                         .requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 1))
                         .requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 4));
  EXPECT_THAT(ProblemBuilder().add(where, three_sizes()).add(pod("p")).solve().refusals, SizeIs(1));
}

TEST(MinValues, KeepAPodOffAClaimItWouldNarrowTooMuch) {
  const auto where =
      pool("default").requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 2));
  const Plan plan =
      ProblemBuilder().add(where, three_sizes()).add(pods(2, "p", pod("p").cpu("3"))).solve();
  // Together they would need "large" alone.
  EXPECT_THAT(plan.claims, SizeIs(2));
}

TEST(MinValues, StayOnTheClaim) {
  const auto claim = only_claim(
      pool("default").requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 2)),
      pod("p"));
  EXPECT_EQ(claim.requirements.get(model::kInstanceTypeLabel).min_values(), 2);
}

TEST(MinValues, MustHoldAfterTheCutToo) {
  const auto where =
      pool("default").requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 3));
  const auto solve_with = [&](MinValuesPolicy policy) {
    return ProblemBuilder()
        .add(where, three_sizes())
        .add(pod("p"))
        .with([&](Problem& problem) {
          problem.options.max_instance_types = 2;
          problem.options.min_values = policy;
        })
        .solve();
  };
  EXPECT_THAT(solve_with(MinValuesPolicy::Strict).refusals, SizeIs(1));
  const Plan relaxed = solve_with(MinValuesPolicy::BestEffort);
  ASSERT_THAT(relaxed.claims, SizeIs(1));
  EXPECT_EQ(relaxed.claims[0].annotations.at("karpenter.sh/nodeclaim-min-values-relaxed"), "true");
}

// The API server refuses a claim that lists one zone and wants two: it was planned again for ever.
TEST(MinValues, CountOnlyZonesThatTheClaimMayBeIn) {
  const auto where = pool("default").requires_(
      need(model::kZoneLabel, Operator::In, {"test-zone-1", "test-zone-2", "test-zone-3"}, 2));
  const auto solve_with = [&](MinValuesPolicy policy, const PodBuilder& who) {
    return ProblemBuilder()
        .add(where, three_sizes())
        .add(who)
        .with([&](Problem& problem) { problem.options.min_values = policy; })
        .solve();
  };
  const Plan open = solve_with(MinValuesPolicy::Strict, pod("p"));
  ASSERT_THAT(open.claims, SizeIs(1));
  EXPECT_EQ(open.claims[0].requirements.get(model::kZoneLabel).min_values(), 2);

  const auto narrow = pod("p").selects(model::kZoneLabel, "test-zone-1");
  const Plan refused = solve_with(MinValuesPolicy::Strict, narrow);
  ASSERT_THAT(refused.refusals, SizeIs(1));
  EXPECT_THAT(refused.refusals[0].reason,
              HasSubstr("topology.kubernetes.io/zone wants minValues 2 and has 1"));
  EXPECT_EQ(refused.refusals[0].remedy,
            "lower minValues of topology.kubernetes.io/zone to 1 in NodePool default");

  const Plan relaxed = solve_with(MinValuesPolicy::BestEffort, narrow);
  ASSERT_THAT(relaxed.claims, SizeIs(1));
  EXPECT_THAT(values_of(relaxed.claims[0], model::kZoneLabel), ElementsAre("test-zone-1"));
  EXPECT_EQ(relaxed.claims[0].requirements.get(model::kZoneLabel).min_values(), 1);
  EXPECT_EQ(relaxed.claims[0].annotations.at("karpenter.sh/nodeclaim-min-values-relaxed"), "true");
}

TEST(MinValues, AreLoweredToTheCapacityTypesThatCanBeBought) {
  Offering spot = offering("test-zone-1", "spot", 1);
  spot.available = false;
  const auto sold_out =
      types({type("t").sold({{"test-zone-1", "on-demand"}}).sold(std::move(spot)).price(1)});
  for (const auto policy : {MinValuesPolicy::Strict, MinValuesPolicy::BestEffort}) {
    const Plan plan =
        ProblemBuilder()
            .add(pool("default").requires_(
                     need(model::kCapacityTypeLabel, Operator::In, {"on-demand", "spot"}, 2)),
                 sold_out)
            .add(pod("p"))
            .with([&](Problem& problem) { problem.options.min_values = policy; })
            .solve();
    ASSERT_THAT(plan.claims, SizeIs(1));
    EXPECT_THAT(values_of(plan.claims[0], model::kCapacityTypeLabel), ElementsAre("on-demand"));
    EXPECT_EQ(plan.claims[0].requirements.get(model::kCapacityTypeLabel).min_values(), 1);
  }
}

// The API server takes no minValues of 0.
TEST(MinValues, OfWhatNoTypeHasAreDroppedUnderBestEffort) {
  const Plan plan =
      ProblemBuilder()
          .add(pool("default").requires_(need("team", Operator::Exists, {}, 2)), three_sizes())
          .add(pod("p"))
          .with([](Problem& problem) { problem.options.min_values = MinValuesPolicy::BestEffort; })
          .solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_EQ(plan.claims[0].requirements.get("team").min_values(), std::nullopt);
}

TEST(MinValues, BestEffortLowersThemBeforeTryingALighterPool) {
  const auto demanding = pool("demanding")
                             .weight(10)
                             .requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 9));
  const auto solve_with = [&](MinValuesPolicy policy) {
    return ProblemBuilder()
        .add(demanding, three_sizes())
        .add(pool("easy"), three_sizes())
        .add(pod("p"))
        .with([&](Problem& problem) { problem.options.min_values = policy; })
        .solve();
  };
  EXPECT_EQ(solve_with(MinValuesPolicy::Strict).claims.at(0).node_pool, "easy");
  const Plan relaxed = solve_with(MinValuesPolicy::BestEffort);
  ASSERT_THAT(relaxed.claims, SizeIs(1));
  EXPECT_EQ(relaxed.claims[0].node_pool, "demanding");
  EXPECT_EQ(relaxed.claims[0].requirements.get(model::kInstanceTypeLabel).min_values(), 3);
  EXPECT_EQ(relaxed.claims[0].annotations.at("karpenter.sh/nodeclaim-min-values-relaxed"), "true");
}

}  // namespace
}  // namespace millwright::scheduling::testing
