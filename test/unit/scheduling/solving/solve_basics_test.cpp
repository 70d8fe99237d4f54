// What a plan looks like in the simple cases.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SolveBasics, OnePodGetsOneClaimOfTheCheapestTypeThatFits) {
  const Plan plan =
      ProblemBuilder().add(pool("default"), three_sizes()).add(pod("a").cpu("1")).solve();
  ASSERT_EQ(plan.claims.size(), 1u);
  EXPECT_EQ(place_of(plan, "a"), "claim 0");
  EXPECT_EQ(plan.claims[0].node_pool, "default");
  EXPECT_THAT(plan.claims[0].instance_types, ElementsAre("small", "medium", "large"));
  EXPECT_THAT(plan.claims[0].pod_uids, ElementsAre("a"));
  EXPECT_THAT(plan.refusals, IsEmpty());
}

TEST(SolveBasics, TypesTooSmallForThePodAreNoOption) {
  const Plan plan =
      ProblemBuilder().add(pool("default"), three_sizes()).add(pod("a").cpu("3")).solve();
  ASSERT_EQ(plan.claims.size(), 1u);
  EXPECT_THAT(plan.claims[0].instance_types, ElementsAre("medium", "large"));
}

TEST(SolveBasics, ManySmallPodsShareOneRightSizedNode) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), three_sizes())
                        .add(pods(30, "p", pod("p").cpu("500m")))
                        .solve();
  ASSERT_EQ(plan.claims.size(), 1u);
  EXPECT_THAT(plan.claims[0].instance_types, ElementsAre("large"));
  EXPECT_EQ(plan.claims[0].requests.at("cpu"), quantity("15"));
  EXPECT_EQ(plan.claims[0].requests.at("pods"), quantity("30"));
}

TEST(SolveBasics, APodThatFitsAnExistingNodeBuysNothing) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), three_sizes())
                        .add(node("n1"))
                        .add(pod("a").cpu("1"))
                        .solve();
  EXPECT_THAT(plan.claims, IsEmpty());
  EXPECT_EQ(place_of(plan, "a"), "n1");
}

// Twenty pods, no two of them alike.
ProblemBuilder all_different() {
  ProblemBuilder builder;
  builder.add(pool("default"), three_sizes());
  for (int i = 0; i < 20; ++i) {
    builder.add(pod("p" + std::to_string(i)).cpu(std::to_string(1500 - i) + "m"));
  }
  return builder;
}

TEST(SolveBasics, PodsThatComeWhenTheAllowanceIsSpentAreLeftForTheNextPlan) {
  const Plan plan =
      all_different().with([](Problem& problem) { problem.options.allowance = 1100; }).solve();
  EXPECT_EQ(place_of(plan, "p0"), "claim 0") << "the largest pod comes first";
  const Refusal* last = refusal(plan, "p19");
  ASSERT_NE(last, nullptr);
  EXPECT_TRUE(last->postponed);
  EXPECT_THAT(last->reason, HasSubstr("the next plan begins where this one ended"));
  EXPECT_EQ(plan.placements.size() + plan.refusals.size(), 20u);
}

TEST(SolveBasics, OnePodFindsAPlaceHoweverSmallTheAllowance) {
  const Plan plan = all_different()
                        .add(pod("too-large").cpu("20"))
                        .with([](Problem& problem) { problem.options.allowance = 0; })
                        .solve();
  EXPECT_EQ(plan.placements.size(), 1u);
  ASSERT_NE(refusal(plan, "too-large"), nullptr);
  EXPECT_FALSE(refusal(plan, "too-large")->postponed) << "it came first, and had its turn";
}

TEST(SolveBasics, ReasonsAreLookedForWithinTheAllowance) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), three_sizes())
                        .add({pod("a").cpu("20"), pod("b").cpu("21"), pod("c").cpu("22")})
                        .with([](Problem& problem) { problem.options.allowance = 8000; })
                        .solve();
  EXPECT_THAT(refusal(plan, "c")->reason, HasSubstr("NodePool default"));
  EXPECT_THAT(refusal(plan, "a")->reason, HasSubstr("its reason was not looked for"));
  EXPECT_FALSE(refusal(plan, "a")->postponed);
}

TEST(SolveBasics, APodLargerThanAnyTypeIsRefusedWithTheNumberThatWouldFit) {
  const Plan plan =
      ProblemBuilder().add(pool("default"), three_sizes()).add(pod("a").cpu("20")).solve();
  const Refusal* refused = refusal(plan, "a");
  ASSERT_NE(refused, nullptr);
  EXPECT_THAT(refused->reason, HasSubstr("NodePool default"));
  EXPECT_THAT(refused->reason, HasSubstr("has enough for"));
  EXPECT_EQ(refused->remedy, "fits if cpu <= 15900m");
}

}  // namespace
}  // namespace millwright::scheduling::testing
