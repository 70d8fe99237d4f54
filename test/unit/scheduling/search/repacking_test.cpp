// The search for claims that cost less, seen through its plans.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

double first_fit_price(ProblemBuilder problem) {
  return price_of_plan(problem.with([](Problem& p) { p.options.economise = false; }).solve());
}

InstanceTypes even_and_big(double price_of_big) {
  return types(
      {type("even").cpu("4").memory("16Gi").max_pods("10").no_overhead().price(1),
       type("big").cpu("16").memory("64Gi").max_pods("40").no_overhead().price(price_of_big)});
}

ProblemBuilder two_proportions(double price_of_big) {
  return ProblemBuilder()
      .add(pool("default"), even_and_big(price_of_big))
      .add(pods(4, "busy", pod("busy").cpu("3").memory("1Gi")))
      .add(pods(4, "wide", pod("wide").cpu("1").memory("15Gi")));
}

TEST(Repacking, PodsAreCombinedToFillTheMachineThatIsTheBestBuy) {
  const Plan plan = two_proportions(4.4).solve();
  EXPECT_DOUBLE_EQ(price_of_plan(plan), 4);
  for (const PlannedClaim& claim : plan.claims) {
    EXPECT_EQ(claim.requests.at("cpu"), quantity("4"));
    EXPECT_EQ(claim.requests.at("memory"), quantity("16Gi"));
  }
}

TEST(Repacking, SavingLittleIsNotWorthManyNodes) {
  EXPECT_THAT(two_proportions(4.04).solve().claims, SizeIs(1));
}

TEST(Repacking, ClaimsStillOfferEveryTypeThatHoldsTheirPods) {
  for (const PlannedClaim& claim : two_proportions(4.4).solve().claims) {
    EXPECT_THAT(claim.instance_types, ::testing::ElementsAre("even", "big"));
  }
}

TEST(Repacking, ALimitInNodesIsKept) {
  auto problem = ProblemBuilder()
                     .add(pool("default").limit("nodes", "3"), even_and_big(4.4))
                     .add(pods(4, "busy", pod("busy").cpu("3").memory("1Gi")))
                     .add(pods(4, "wide", pod("wide").cpu("1").memory("15Gi")));
  const Plan plan = problem.solve();
  EXPECT_THAT(plan.refusals, IsEmpty());
  EXPECT_THAT(plan.claims, SizeIs(::testing::Le(3u)));
}

TEST(Repacking, PodsThatMustBeApartShareTheirNodesWithOthers) {
  std::vector<InstanceType> sizes;
  for (int cpu = 1; cpu <= 16; ++cpu) {
    sizes.push_back(type("t" + std::to_string(cpu))
                        .cpu(std::to_string(cpu))
                        .memory(std::to_string(4 * cpu) + "Gi")
                        .max_pods("50")
                        .no_overhead()
                        .price(cpu));
  }
  auto problem = ProblemBuilder().add(pool("default"), types(std::move(sizes)));
  const auto alone = pod("alone").cpu("1500m").label("app", "alone").with([](model::Pod& p) {
    p.spec.affinity.required_pod_anti_affinity.push_back(
        {.label_selector = model::LabelSelector{.match_labels = {{"app", "alone"}}},
         .topology_key = std::string(model::kHostnameLabel)});
  });
  problem.add(pods(10, "alone", alone)).add(pods(10, "filler", pod("filler").cpu("500m")));
  const Plan plan = problem.solve();
  ASSERT_THAT(plan.claims, SizeIs(10));
  // Each of them needs two CPUs, and there is a filler for every gap.
  EXPECT_DOUBLE_EQ(price_of_plan(plan), 20);
  EXPECT_LE(price_of_plan(plan), first_fit_price(problem));
  for (const PlannedClaim& claim : plan.claims) {
    EXPECT_THAT(claim.pod_uids, SizeIs(2));
  }
}

TEST(Repacking, TheSameProblemGivesTheSamePlanWhateverTheOrderOfItsPods) {
  auto forward = two_proportions(4.4);
  auto backward = forward;
  backward.with([](Problem& p) { std::reverse(p.pods.begin(), p.pods.end()); });
  const Plan one = forward.solve();
  const Plan two = backward.solve();
  ASSERT_EQ(one.claims.size(), two.claims.size());
  for (std::size_t i = 0; i < one.claims.size(); ++i) {
    EXPECT_EQ(one.claims[i].pod_uids, two.claims[i].pod_uids);
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
