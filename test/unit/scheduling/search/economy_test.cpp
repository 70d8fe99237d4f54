// Plans that cost less than one first-fit pass would.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

Plan karpenter_like(const ProblemBuilder& problem) {
  ProblemBuilder plain = problem;
  return plain.with([](Problem& p) { p.options.economise = false; }).solve();
}

TEST(Economy, TwoMachinesReplaceOneThatWouldBeHalfEmpty) {
  const auto problem =
      ProblemBuilder().add(pool("default"), three_sizes()).add(pods(12, "p", pod("p").cpu("500m")));
  const Plan one = karpenter_like(problem);
  ASSERT_THAT(one.claims, SizeIs(1));
  EXPECT_THAT(one.claims[0].instance_types, ElementsAre("large"));
  const Plan two = problem.solve();
  ASSERT_THAT(two.claims, SizeIs(2));
  EXPECT_EQ(two.claims[0].instance_types.front(), "medium");
  EXPECT_EQ(two.claims[1].instance_types.front(), "medium");
  EXPECT_THAT(two.placements, SizeIs(12));
}

TEST(Economy, ASplitThatSavesLittleIsNotMade) {
  const auto list = types({type("small").cpu("4").no_overhead().price(1),
                           type("large").cpu("8").no_overhead().price(2.02)});
  const Plan plan =
      ProblemBuilder().add(pool("default"), list).add(pods(2, "p", pod("p").cpu("4"))).solve();
  EXPECT_THAT(plan.claims, SizeIs(1));
}

// Two nodes have two disks and two addresses.
TEST(Economy, WhatANodeCostsBesideItsInstanceIsPartOfThePlan) {
  const auto list = types({type("small").cpu("4").no_overhead().price(0.9),
                           type("large").cpu("8").no_overhead().price(2)});
  const auto plan_at = [&](double node_overhead) {
    return ProblemBuilder()
        .add(pool("default"), list)
        .add(pods(2, "p", pod("p").cpu("4")))
        .with([&](Problem& p) { p.pools.front().node_overhead = node_overhead; })
        .solve();
  };
  EXPECT_THAT(plan_at(0).claims, SizeIs(2));
  EXPECT_THAT(plan_at(0.1).claims, SizeIs(2));
  const auto plan = plan_at(0.5);
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_DOUBLE_EQ(plan.claims[0].price, 2) << "of the instance alone";
}

TEST(Economy, SplitsStayWithinLimits) {
  const auto problem =
      ProblemBuilder()
          .add(pool("default").limit("cpu", "16").limit("nodes", "1"), three_sizes())
          .add(pods(12, "p", pod("p").cpu("500m")));
  EXPECT_THAT(problem.solve().claims, SizeIs(1));
  const auto wider = ProblemBuilder()
                         .add(pool("default").limit("cpu", "16").limit("nodes", "2"), three_sizes())
                         .add(pods(12, "p", pod("p").cpu("500m")));
  EXPECT_THAT(wider.solve().claims, SizeIs(2));
}

TEST(Economy, OneOnDemandPodDoesNotMakeASpotNodeOnDemand) {
  const auto spot_is_cheap = [] {
    TypeBuilder builder = type("t").cpu("16").memory("64Gi").max_pods("100").sold(
        std::vector<std::pair<std::string, std::string>>{});
    TypeBuilder small = type("s").cpu("2").memory("8Gi").max_pods("100").sold(
        std::vector<std::pair<std::string, std::string>>{});
    return types({builder.sold(offering("z", "spot", 3)).sold(offering("z", "on-demand", 10)),
                  small.sold(offering("z", "spot", 0.4)).sold(offering("z", "on-demand", 1.25))});
  }();
  const auto problem =
      ProblemBuilder()
          .add(pool("default"), spot_is_cheap)
          .add(pods(10, "p", pod("p").cpu("1500m")))
          .add(pod("critical").cpu("400m").selects(model::kCapacityTypeLabel, "on-demand"));
  EXPECT_DOUBLE_EQ(price_of_plan(karpenter_like(problem)), 10);
  EXPECT_DOUBLE_EQ(price_of_plan(problem.solve()), 4.25);
}

TEST(Economy, OrdinaryPodsFillAGpuMachineButDoNotEnlargeIt) {
  const auto list =
      types({type("gpu-small").cpu("4").memory("16Gi").max_pods("100").has("gpu", "1").price(5),
             type("gpu-large").cpu("32").memory("128Gi").max_pods("100").has("gpu", "1").price(20),
             type("plain").cpu("32").memory("128Gi").max_pods("100").price(2)});
  const auto problem = ProblemBuilder()
                           .add(pool("default"), list)
                           .add(pod("learner").cpu("1").requests("gpu", "1"))
                           .add(pods(20, "p", pod("p").cpu("1")));
  EXPECT_DOUBLE_EQ(price_of_plan(problem.solve()), 7);
}

TEST(Economy, MemoryAndCpuAreBoughtInTheProportionsOnSale) {
  // Two kinds of pods, each wasting half of any machine alone, fill it together.
  const auto list =
      types({type("t").cpu("8").memory("32Gi").max_pods("100").no_overhead().price(1)});
  const auto problem = ProblemBuilder()
                           .add(pool("default"), list)
                           .add(pods(16, "cpu", pod("p").cpu("1900m").memory("1Gi")))
                           .add(pods(16, "mem", pod("p").cpu("100m").memory("7Gi")));
  EXPECT_THAT(problem.solve().claims, SizeIs(4));
}

}  // namespace
}  // namespace millwright::scheduling::testing
