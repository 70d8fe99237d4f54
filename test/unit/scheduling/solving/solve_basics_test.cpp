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
