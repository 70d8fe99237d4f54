// What a PlanningSession re-plans in place and what it plans from scratch.
#include "millwright/scheduling/planning_session.hpp"

#include "builders.hpp"
#include "topology_builders.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <string>

namespace millwright::scheduling::testing {
namespace {

constexpr SessionOptions kNeverAnew{.allowance = std::numeric_limits<double>::infinity()};

PodPtr one(const PodBuilder& pod) {
  return pod;
}

// The record with one more pod bound to its node.
NodeRecordPtr running(const NodeBuilder& node, const std::string& uid) {
  NodeBuilder copy = node;
  return copy.runs(pod(uid).cpu("1"));
}

std::size_t pods_on_claims(const Plan& plan) {
  std::size_t pods = 0;
  for (const PlannedClaim& claim : plan.claims) {
    pods += claim.pod_uids.size();
  }
  return pods;
}

TEST(PlanningSession, StartsWithThePlanOfItsProblem) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(pods(5, "web", pod("web").cpu("1")));
  const PlanningSession session(problem.problem());
  const Plan plan = problem.solve();
  ASSERT_EQ(session.plan().claims.size(), plan.claims.size());
  EXPECT_EQ(session.plan().claims.front().pod_uids, plan.claims.front().pod_uids);
  EXPECT_EQ(session.restarts(), 1U);
}

TEST(PlanningSession, AnArrivingPodGoesToANodeFirst) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(node("a")).add(node("b"));
  PlanningSession session(problem.problem());
  const Revision revision = session.add_pod(one(pod("new").cpu("1")));
  EXPECT_TRUE(revision.from_scratch) << "nobody had asked for CPU before";
  EXPECT_EQ(place_of(session.plan(), "new"), "a");
  const Revision next = session.add_pod(one(pod("next").cpu("2")));
  EXPECT_FALSE(next.from_scratch);
  ASSERT_EQ(next.placements.size(), 1U);
  EXPECT_EQ(std::get<std::string>(next.placements.front().target), "a");
  EXPECT_TRUE(next.claims.empty());
}

TEST(PlanningSession, AnArrivingPodJoinsAnOpenClaimAndOnlyThatIsReported) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(pods(3, "web", pod("web").cpu("1")));
  PlanningSession session(problem.problem(), kNeverAnew);
  const Revision revision = session.add_pod(one(pod("new").cpu("500m")));
  EXPECT_FALSE(revision.from_scratch);
  ASSERT_EQ(revision.claims.size(), 1U);
  EXPECT_EQ(revision.claims.front().second.pod_uids.back(), "new");
  EXPECT_EQ(revision.claims.front().first, std::get<std::size_t>(revision.placements[0].target));
  EXPECT_EQ(session.restarts(), 1U);
}

TEST(PlanningSession, NodesAsTheyWereAreNotKeptForEver) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(node("a")).add(pod("web").cpu("1"));
  PlanningSession session(problem.problem(), kNeverAnew);
  const auto now = [] { return std::make_shared<const NodeRecord>(*NodeRecordPtr(node("a"))); };
  NodeRecordPtr first = now();
  const std::weak_ptr<const NodeRecord> witness = first;
  EXPECT_FALSE(session.set_node(std::move(first)).from_scratch);
  for (int change = 0; change < 5000; ++change) {
    session.set_node(now());
  }
  EXPECT_TRUE(witness.expired());
  EXPECT_EQ(session.restarts(), 2U);
}

TEST(PlanningSession, AClaimWithoutPodsIsNoLongerWanted) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(pod("only").cpu("1"));
  PlanningSession session(problem.problem(), kNeverAnew);
  const Revision revision = session.remove_pod("only");
  EXPECT_FALSE(revision.from_scratch);
  ASSERT_EQ(revision.claims.size(), 1U);
  EXPECT_TRUE(revision.claims.front().second.pod_uids.empty());
  EXPECT_TRUE(session.plan().claims.empty());
  EXPECT_TRUE(session.problem().pods.empty());
}

TEST(PlanningSession, AClaimShrinksWithItsPods) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(pod("big").cpu("10")).add(pod("small").cpu("1"));
  PlanningSession session(problem.problem(), kNeverAnew);
  const double before = session.plan().claims.front().price;
  session.remove_pod("big");
  ASSERT_EQ(session.plan().claims.size(), 1U);
  EXPECT_LT(session.plan().claims.front().price, before);
  EXPECT_EQ(session.plan().claims.front().instance_types.front(), "small");
}

TEST(PlanningSession, APodThatIsBoundWhereItWasPlannedMovesNobody) {
  ProblemBuilder problem;
  const NodeBuilder a = node("a");
  problem.add(pool("default"), three_sizes()).add(a).add(pods(3, "web", pod("web").cpu("1")));
  PlanningSession session(problem.problem(), kNeverAnew);
  const Revision revision = session.bind_pod("web-1000", running(a, "web-1000"));
  EXPECT_FALSE(revision.from_scratch);
  EXPECT_TRUE(revision.placements.empty());
  EXPECT_EQ(place_of(session.plan(), "web-1000"), "");
  EXPECT_EQ(place_of(session.plan(), "web-1001"), "a");
  EXPECT_EQ(place_of(session.plan(), "web-1002"), "a");
}

TEST(PlanningSession, PodsMoveFromANodeThatHasNoRoomForThemAnyMore) {
  ProblemBuilder problem;
  const NodeBuilder a = node("a");
  problem.add(pool("default"), three_sizes()).add(a).add(pods(3, "web", pod("web").cpu("1")));
  PlanningSession session(problem.problem(), kNeverAnew);
  NodeBuilder fuller = a;
  const Revision revision =
      session.set_node(fuller.runs(pod("x").cpu("1")).runs(pod("y").cpu("1")));
  EXPECT_FALSE(revision.from_scratch);
  const Plan plan = session.plan();
  EXPECT_EQ(pods_on_claims(plan), 1U);
  EXPECT_EQ(revision.placements.size(), 1U) << "the two that still fit stay";
}

TEST(PlanningSession, PodsMoveFromANodeThatGoes) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes())
      .add(node("a"))
      .add(node("b"))
      .add(pods(3, "web", pod("web").cpu("1")));
  PlanningSession session(problem.problem(), kNeverAnew);
  ASSERT_EQ(place_of(session.plan(), "web-1000"), "a");
  EXPECT_FALSE(session.remove_node("a").from_scratch);
  EXPECT_EQ(place_of(session.plan(), "web-1000"), "b");
  EXPECT_EQ(session.problem().nodes.size(), 1U);
}

TEST(PlanningSession, AFencedNodeTakesNobodyAndOneThatIsNewDoes) {
  ProblemBuilder problem;
  const NodeBuilder a = node("a");
  problem.add(pool("default"), three_sizes()).add(a).add(pod("web").cpu("1"));
  PlanningSession session(problem.problem(), kNeverAnew);
  NodeBuilder fenced = a;
  session.set_node(fenced.with_record([](NodeRecord& record) { record.fenced = true; }));
  EXPECT_EQ(place_of(session.plan(), "web"), "claim 0");
  session.set_node(node("c"));
  EXPECT_FALSE(session.add_pod(one(pod("next").cpu("1"))).from_scratch);
  EXPECT_EQ(place_of(session.plan(), "next"), "c");
}

TEST(PlanningSession, ARefusedPodIsPlacedAsSoonAsThereIsRoom) {
  ProblemBuilder problem;
  const NodeBuilder a = node("a").taint("closed", "", "NoSchedule");
  problem.add(pool("default").limit("nodes", "1"), three_sizes())
      .add(a)
      .add(pods(2, "web", pod("web").cpu("1")));
  PlanningSession session(problem.problem(), kNeverAnew);
  ASSERT_EQ(session.plan().refusals.size(), 2U);
  const Revision revision = session.set_node(node("a"));
  EXPECT_FALSE(revision.from_scratch);
  EXPECT_EQ(revision.placements.size(), 2U);
  EXPECT_TRUE(session.plan().refusals.empty());
}

TEST(PlanningSession, RefusesOnlyWhatAPlanFromScratchHasRefusedBefore) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(pod("fits").cpu("1"));
  PlanningSession session(problem.problem(), kNeverAnew);
  EXPECT_TRUE(session.add_pod(one(pod("giant").cpu("100"))).from_scratch);
  const Revision again = session.add_pod(one(pod("giant-2").cpu("100")));
  EXPECT_FALSE(again.from_scratch);
  ASSERT_EQ(again.refusals.size(), 1U);
  EXPECT_EQ(again.refusals.front().reason, refusal(session.plan(), "giant")->reason);
  EXPECT_EQ(session.plan().refusals.size(), 2U);
}

TEST(PlanningSession, ReplicasOfSpreadPodsArriveInPlace) {
  ProblemBuilder problem;
  const auto like = pod("web")
                        .cpu("1")
                        .label("app", "web")
                        .with(spreads(spread_over(model::kZoneLabel, 1, {{"app", "web"}})));
  problem.add(pool("default"), three_sizes()).add(pods(4, "web", like));
  PlanningSession session(problem.problem(), kNeverAnew);
  for (const PodPtr& more : pods(4, "more", like)) {
    EXPECT_FALSE(session.add_pod(more).from_scratch);
  }
  const Plan plan = session.plan();
  EXPECT_TRUE(plan.refusals.empty());
  EXPECT_TRUE(session.remove_pod("web-1000").from_scratch) << "others were placed by its count";
}

TEST(PlanningSession, SpreadPodsAreBoundInPlaceWhereTheyWerePlannedInAnyOrder) {
  const auto like = pod("web")
                        .cpu("500m")
                        .label("app", "web")
                        .with(spreads(spread_over(model::kZoneLabel, 1, {{"app", "web"}})));
  const NodeBuilder a = node("a").label(model::kZoneLabel, "test-zone-1");
  const NodeBuilder b = node("b").label(model::kZoneLabel, "test-zone-2");
  const NodeBuilder c = node("c").label(model::kZoneLabel, "test-zone-3");
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(a).add(b).add(c).add(pods(6, "web", like));
  PlanningSession session(problem.problem(), kNeverAnew);
  std::map<std::string, NodeBuilder> nodes{{"a", a}, {"b", b}, {"c", c}};
  for (int i = 5; i >= 0; --i) {
    const std::string uid = "web-" + std::to_string(1000 + i);
    const std::string name = place_of(session.plan(), uid);
    NodeBuilder& target = nodes.at(name);
    EXPECT_FALSE(session.bind_pod(uid, target.runs(pods(6, "web", like).at(i))).from_scratch);
  }
  EXPECT_TRUE(session.plan().placements.empty());
  // The counts are as if they had been planned from scratch.
  const Revision revision = session.add_pod(pods(1, "more", like).front());
  EXPECT_FALSE(revision.from_scratch);
  EXPECT_EQ(place_of(session.plan(), "more-1000"), place_of(solve(session.problem()), "more-1000"));
}

TEST(PlanningSession, AConstraintThatNobodyHadTakesAPlanFromScratch) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(pod("plain").cpu("1"));
  PlanningSession session(problem.problem(), kNeverAnew);
  EXPECT_TRUE(
      session
          .add_pod(one(pod("spread")
                           .cpu("1")
                           .label("app", "web")
                           .with(spreads(spread_over(model::kZoneLabel, 1, {{"app", "web"}})))))
          .from_scratch);
  EXPECT_FALSE(session.add_pod(one(pod("more").cpu("1"))).from_scratch);
}

TEST(PlanningSession, StraysNoFurtherThanAllowed) {
  ProblemBuilder problem;
  problem.add(pool("default"), three_sizes()).add(pods(40, "web", pod("web").cpu("1")));
  PlanningSession session(problem.problem(), {.allowance = 0.05});
  std::size_t revised = 0;
  for (int i = 0; i < 40; ++i) {
    revised += session.remove_pod("web-" + std::to_string(1000 + i)).from_scratch ? 0 : 1;
  }
  EXPECT_GT(revised, 0U);
  EXPECT_LT(revised, 40U);
  EXPECT_TRUE(session.plan().claims.empty());
}

// Order does not matter here, so a revised plan is one from scratch but for who is where.
TEST(PlanningSession, PodsAlikeOnOneTypeArriveWhereAPlanFromScratchPutsThem) {
  for (const int capacity : {1, 3, 7}) {
    ProblemBuilder problem;
    const NodeBuilder a = node("a").allocatable("cpu", "64").allocatable("memory", "64Gi");
    problem
        .add(pool("default"),
             types({type("t").cpu("64").memory("64Gi").max_pods(std::to_string(capacity))}))
        .add(a)
        .add(pods(4, "web", pod("web").cpu("1")));
    PlanningSession session(problem.problem(), kNeverAnew);
    for (int i = 0; i < 20; ++i) {
      session.add_pod(one(pod("new-" + std::to_string(i)).cpu("1")));
      if (i == 10) {
        session.bind_pod("web-1000", running(a, "web-1000"));
      }
      const Plan plan = session.plan();
      const Plan scratch = solve(session.problem());
      ASSERT_EQ(plan.placements.size(), scratch.placements.size());
      ASSERT_EQ(pods_on_claims(plan), pods_on_claims(scratch));
      ASSERT_EQ(plan.claims.size(), scratch.claims.size()) << i << ", " << capacity;
    }
    EXPECT_EQ(session.restarts(), 1U);
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
