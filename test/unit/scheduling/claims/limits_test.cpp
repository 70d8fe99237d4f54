// NodePool limits: PRV-06.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

InstanceTypes one_size() {
  return types({type("t").cpu("4").memory("8Gi").max_pods("10").no_overhead()});
}

TEST(Limits, AreMetExactly) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default").limit("cpu", "8"), one_size())
                        .add(pods(2, "p", pod("p").cpu("4")))
                        .solve();
  EXPECT_THAT(plan.claims, SizeIs(2));
}

TEST(Limits, LeaveTheRestUnscheduledAndSayWhatToRaise) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default").limit("cpu", "11"), one_size())
                        .add(pods(3, "p", pod("p").cpu("3")))
                        .solve();
  EXPECT_THAT(plan.claims, SizeIs(2));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_EQ(plan.refusals[0].reason, "NodePool default: it would exceed limits.cpu (11)");
  EXPECT_EQ(plan.refusals[0].remedy, "raise limits.cpu of NodePool default to 12");
}

TEST(Limits, ARaisedLimitIsEnough) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default").limit("cpu", "12"), one_size())
                        .add(pods(3, "p", pod("p").cpu("3")))
                        .solve();
  EXPECT_THAT(plan.refusals, SizeIs(0));
}

TEST(Limits, CountWhatRunsAlready) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default").limit("cpu", "8"), one_size())
                        .add(node("n").runs(pod("b").cpu("4")))
                        .add(pods(2, "p", pod("p").cpu("4")))
                        .solve();
  EXPECT_THAT(plan.claims, SizeIs(1));
}

// It goes once its pods have others to take their place, and these may need what it has used.
TEST(Limits, DoNotCountANodeWhoseClaimIsBeingDeleted) {
  const auto claims_beside = [](bool marked, bool deleting) {
    const NodeRecordPtr leaving =
        node("n")
            .runs(pod("b").cpu("4"))
            .with_claim([&](model::NodeClaim& claim) {
              if (deleting) {
                claim.meta.deletion_timestamp = base::TimePoint{};
              }
            })
            .with_record([&](NodeRecord& record) { record.marked_for_deletion = marked; });
    return ProblemBuilder()
        .add(pool("default").limit("cpu", "4").limit("nodes", "1"), one_size())
        .add(pod("p").cpu("4"))
        .with([&](Problem& problem) { problem.counted_nodes.push_back(leaving); })
        .solve()
        .claims.size();
  };
  EXPECT_EQ(claims_beside(true, true), 1u);
  EXPECT_EQ(claims_beside(true, false), 0u) << "it may be opened again";
}

TEST(Limits, DoNotCountNodesOfOtherPools) {
  const Plan plan =
      ProblemBuilder()
          .add(pool("default").limit("cpu", "4"), one_size())
          .add(node("n").label(model::kNodePoolLabel, "other").runs(pod("b").cpu("4")))
          .add(pod("p").cpu("4"))
          .solve();
  EXPECT_THAT(plan.claims, SizeIs(1));
}

TEST(Limits, CountClaimsThatAreNotLaunchedByTheirLargestType) {
  const auto claim = [](std::string instance_type) {
    return node("x").without_node().with_claim([&](model::NodeClaim& c) {
      c.provider_id.clear();
      c.capacity.clear();
      c.allocatable.clear();
      c.requirements = {need(model::kInstanceTypeLabel, Operator::In, {"small", instance_type})};
    });
  };
  const auto claims_with = [&](std::string instance_type) {
    return ProblemBuilder()
        .add(pool("default").limit("cpu", "16"), three_sizes())
        .add(claim(std::move(instance_type)))
        .add(pod("p").cpu("3"))
        .solve()
        .claims.size();
  };
  EXPECT_EQ(claims_with("medium"), 1u);
  EXPECT_EQ(claims_with("large"), 0u);
}

TEST(Limits, RestrictTheTypesOfAClaim) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default").limit("cpu", "5"), three_sizes())
                        .add(pod("p").cpu("1"))
                        .solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(plan.claims[0].instance_types, ElementsAre("small", "medium"));
}

TEST(Limits, HoldForExtendedResources) {
  const auto gpus = types({type("g").has("example.com/gpu", "2").no_overhead()});
  const auto claims_at = [&](std::string_view limit) {
    return ProblemBuilder()
        .add(pool("default").limit("example.com/gpu", limit), gpus)
        .add(pods(2, "p", pod("p").requests("example.com/gpu", "2")))
        .solve()
        .claims.size();
  };
  EXPECT_EQ(claims_at("1"), 0u);
  EXPECT_EQ(claims_at("3"), 1u);
  EXPECT_EQ(claims_at("4"), 2u);
}

TEST(Limits, OfNodesHoldWithinOnePlan) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default").limit("nodes", "2"), one_size())
                        .add(pods(4, "p", pod("p").cpu("4")))
                        .solve();
  EXPECT_THAT(plan.claims, SizeIs(2));
  ASSERT_THAT(plan.refusals, SizeIs(2));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("limits.nodes (2)"));
  EXPECT_EQ(plan.refusals[0].remedy, "raise limits.nodes of NodePool default to 3");
}

// For whoever buys: another decision may have taken what is left meanwhile.
TEST(Limits, AreToldWithEachClaim) {
  const Plan plan = ProblemBuilder()
                        .add(pool("default").limit("cpu", "14").limit("nodes", "5"), one_size())
                        .add(node("n").runs(pod("b").cpu("4")))
                        .add(pods(2, "p", pod("p").cpu("4")))
                        .solve();
  ASSERT_THAT(plan.claims, SizeIs(2));
  for (const auto& claim : plan.claims) {
    EXPECT_EQ(model::to_string(claim.limit_charge), "{cpu: 4, nodes: 1}");
    EXPECT_EQ(model::to_string(claim.limit_left), "{cpu: 2, nodes: 2}");
  }
}

TEST(Limits, OfNoPoolLeaveNothingToTell) {
  const Plan plan = ProblemBuilder().add(pool("default"), one_size()).add(pod("p")).solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(plan.claims[0].limit_charge, SizeIs(0));
  EXPECT_THAT(plan.claims[0].limit_left, SizeIs(0));
}

TEST(Limits, SendPodsToTheNextPool) {
  const Plan plan = ProblemBuilder()
                        .add(pool("small").weight(10).limit("cpu", "4"), one_size())
                        .add(pool("big"), one_size())
                        .add(pods(2, "p", pod("p").cpu("4")))
                        .solve();
  ASSERT_THAT(plan.claims, SizeIs(2));
  EXPECT_EQ(plan.claims[0].node_pool, "small");
  EXPECT_EQ(plan.claims[1].node_pool, "big");
}

TEST(Limits, AreNotWastedOnSizesThatWillNotBeBought) {
  // A claim that may become anything up to 16 CPUs is charged 16 at first. When that leaves a pod
  // out, claims settle for what they need.
  const Plan plan = ProblemBuilder()
                        .add(pool("default")
                                 .limit("cpu", "18")
                                 .requires_(need(model::kZoneLabel, Operator::Exists)),
                             three_sizes())
                        .add(pod("p").cpu("1").selects(model::kZoneLabel, "test-zone-1"))
                        .add(pod("q").cpu("3").selects(model::kZoneLabel, "test-zone-2"))
                        .solve();
  EXPECT_THAT(plan.refusals, SizeIs(0));
  ASSERT_THAT(plan.claims, SizeIs(2));
  double most = 0;
  for (const auto& claim : plan.claims) {
    double largest = 0;
    for (const auto& name : claim.instance_types) {
      largest = std::max(largest, name == "large" ? 16.0 : name == "medium" ? 4.0 : 2.0);
    }
    most += largest;
  }
  EXPECT_LE(most, 18);
}

TEST(Limits, BelowWhatRunsAlreadyStopThePool) {
  const Plan plan =
      ProblemBuilder()
          .add(pool("default").limit("cpu", "1").limit("example.com/gpu", "0"), one_size())
          .add(node("n").runs(pod("b").cpu("4")))
          .add(pod("p").cpu("1"))
          .solve();
  EXPECT_THAT(plan.claims, SizeIs(0));
  EXPECT_EQ(plan.refusals.at(0).remedy, "raise limits.cpu of NodePool default to 8");
}

}  // namespace
}  // namespace millwright::scheduling::testing
