// DaemonSet overhead on new nodes: PRV-07.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using DaemonSetPtr = std::shared_ptr<const model::DaemonSet>;

Plan plan_with(const DaemonSetPtr& daemon, const PodBuilder& who,
               const PoolBuilder& where = pool("default"), InstanceTypes what = three_sizes()) {
  return ProblemBuilder().add(where, std::move(what)).add(daemon).add(who).solve();
}

// CPU requested by the claim for a pod of 1 CPU; empty when there is no claim.
std::string cpu_of(const Plan& plan) {
  return plan.claims.empty() ? "" : plan.claims[0].requests.at("cpu").to_string();
}

TEST(Daemons, AreCountedOnceAndMayNeedALargerType) {
  const Plan plan = plan_with(daemon_set("d", pod("d").cpu("1")), pod("p").cpu("1"));
  EXPECT_EQ(cpu_of(plan), "2");
  EXPECT_EQ(plan.claims[0].requests.at("pods"), quantity("2"));
  EXPECT_THAT(plan.claims[0].instance_types, ElementsAre("medium", "large"));
}

TEST(Daemons, LargerThanEveryTypeLeaveNoRoom) {
  EXPECT_THAT(plan_with(daemon_set("d", pod("d").cpu("100")), pod("p")).refusals, SizeIs(1));
}

TEST(Daemons, RequestWhatTheyLimitUnlessTheySay) {
  EXPECT_EQ(cpu_of(plan_with(daemon_set("d", pod("d").limits("cpu", "500m")), pod("p").cpu("1"))),
            "1500m");
  EXPECT_EQ(cpu_of(plan_with(daemon_set("d", pod("d").cpu("200m").limits("cpu", "500m")),
                             pod("p").cpu("1"))),
            "1200m");
}

struct DaemonCase {
  std::string what;
  PodBuilder daemon;
  bool counted;
};

TEST(Daemons, CountOnlyWhereTheyRun) {
  const std::vector<DaemonCase> cases = {
      {"no toleration for the pool's taint", pod("d").cpu("1"), false},
      {"tolerates it", pod("d").cpu("1").tolerates("k", "v", "NoSchedule"), true},
      {"selects the pool", pod("d").cpu("1").tolerates_everything().selects("team", "a"), true},
      {"selects another", pod("d").cpu("1").tolerates_everything().selects("team", "b"), false},
      {"NotIn on a key nobody defines",
       pod("d").cpu("1").tolerates_everything().requires_term(
           {need("nobody", Operator::NotIn, {"x"})}),
       true},
      {"In on a key nobody defines",
       pod("d").cpu("1").tolerates_everything().requires_term(
           {need("nobody", Operator::In, {"x"})}),
       false},
      {"second of two terms",
       pod("d")
           .cpu("1")
           .tolerates_everything()
           .requires_term({need("team", Operator::In, {"b"})})
           .requires_term({need("team", Operator::In, {"a"})}),
       true},
      {"a preference that does not match",
       pod("d").cpu("1").tolerates_everything().prefers(1, {need("team", Operator::In, {"b"})}),
       true},
      {"waits for registration",
       pod("d").cpu("1").tolerates_everything().selects(model::kRegisteredLabel, "true"), true},
      {"an architecture the types do not have",
       pod("d").cpu("1").tolerates_everything().selects(model::kArchLabel, "arm64"), false},
  };
  for (const auto& test : cases) {
    const Plan plan =
        plan_with(daemon_set("d", test.daemon), pod("p").cpu("1").tolerates("k", "v", "NoSchedule"),
                  pool("default").label("team", "a").taint("k", "v", "NoSchedule"));
    EXPECT_EQ(cpu_of(plan), test.counted ? "2" : "1") << test.what;
  }
}

TEST(Daemons, AreNotKeptAwayBySoftOrStartupTaints) {
  EXPECT_EQ(cpu_of(plan_with(daemon_set("d", pod("d").cpu("1")), pod("p").cpu("1"),
                             pool("default").taint("k", "v", "PreferNoSchedule"))),
            "2");
  EXPECT_EQ(cpu_of(plan_with(daemon_set("d", pod("d").cpu("1")), pod("p").cpu("1"),
                             pool("default").with([](model::NodePool& p) {
                               p.template_.startup_taints.emplace().push_back(
                                   {.key = "s", .effect = "NoSchedule"});
                             }))),
            "2");
}

TEST(Daemons, TakeRequestsFromALivePodAndAffinityFromTheTemplate) {
  const auto live = pod("d-abc")
                        .cpu("750m")
                        .owned_by("DaemonSet", "d")
                        .requires_term({need(model::kHostnameLabel, Operator::In, {"n"})});
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), three_sizes())
                        .add(node("n").allocatable("cpu", "1").runs(live))
                        .add(daemon_set("d", pod("d").cpu("1")))
                        .add(pod("p").cpu("1"))
                        .solve();
  EXPECT_EQ(cpu_of(plan), "1750m");
}

// A LimitRange gives requests to the pods, not to the template; the first may still wait for room.
TEST(Daemons, TakeRequestsFromALivePodThatIsPending) {
  auto around = std::make_shared<Snapshot>();
  around->pending_pods.push_back(pod("d-abc").cpu("750m").owned_by("DaemonSet", "d"));
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), three_sizes())
                        .add(daemon_set("d", pod("d")))
                        .add(pod("p").cpu("1"))
                        .with([&](Problem& problem) { problem.cluster = around; })
                        .solve();
  EXPECT_EQ(cpu_of(plan), "1750m");
}

TEST(Daemons, DifferByTypeAndTheClaimAsksForTheLeastOfThem) {
  // The daemon runs on "big" only; the pod fits both.
  const auto list = types({type("big").cpu("8").label("provider.example.com/kind", {"big"}),
                           type("tiny").cpu("2").label("provider.example.com/kind", {"tiny"})});
  model::register_well_known_label("provider.example.com/kind");
  const Plan plan =
      plan_with(daemon_set("d", pod("d").cpu("3").selects("provider.example.com/kind", "big")),
                pod("p").cpu("1"), pool("default"), list);
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_EQ(cpu_of(plan), "1");
  const Plan large =
      plan_with(daemon_set("d", pod("d").cpu("3").selects("provider.example.com/kind", "big")),
                pod("p").cpu("4"), pool("default"), list);
  ASSERT_THAT(large.claims, SizeIs(1));
  EXPECT_THAT(large.claims[0].instance_types, ElementsAre("big"));
  EXPECT_EQ(cpu_of(large), "7");
  EXPECT_THAT(
      plan_with(daemon_set("d", pod("d").cpu("3").selects("provider.example.com/kind", "big")),
                pod("p").cpu("5"), pool("default"), list)
          .refusals,
      SizeIs(1));
}

TEST(Daemons, HostPortsAreReservedOnlyWhereTheyRun) {
  const auto daemon = daemon_set("d", pod("d").host_port(80).tolerates("k", "v", "NoSchedule"));
  EXPECT_THAT(plan_with(daemon, pod("p").host_port(80)).refusals, SizeIs(1));
  EXPECT_THAT(plan_with(daemon, pod("p").host_port(81)).claims, SizeIs(1));
  const auto elsewhere = daemon_set("d", pod("d").host_port(80).selects("team", "x"));
  EXPECT_THAT(plan_with(elsewhere, pod("p").host_port(80)).claims, SizeIs(1));
}

TEST(Daemons, ThatNeedDevicesAreLeftOut) {
  const auto daemon = daemon_set("d", pod("d").cpu("1").with([](model::Pod& p) {
    p.spec.resource_claims.push_back({.name = "device"});
  }));
  EXPECT_EQ(cpu_of(plan_with(daemon, pod("p").cpu("1"))), "1");
}

}  // namespace
}  // namespace millwright::scheduling::testing
