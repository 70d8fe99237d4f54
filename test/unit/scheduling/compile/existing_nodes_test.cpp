// Capacity that exists or is on its way: SCH-19, 21..27.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ExistingNodes, AreUsedOnlyIfSelectorsMatch) {
  EXPECT_EQ(place(node("n"), pod("p").selects(model::kZoneLabel, "test-zone-1")), "n");
  EXPECT_EQ(place(node("n"), pod("p").selects(model::kZoneLabel, "test-zone-2")), "claim 0");
  EXPECT_EQ(place(node("n"), pod("p").selects(model::kHostnameLabel, "n")), "n");
}

TEST(ExistingNodes, DoNotHelpAWellKnownLabelTheyLack) {
  EXPECT_EQ(place(node("n"), pod("p").selects(model::kArchLabel, "amd64")), "claim 0");
}

TEST(ExistingNodes, AreUsedOnlyIfThereIsRoom) {
  EXPECT_EQ(place(node("n"), pod("p").cpu("4")), "n");
  EXPECT_EQ(place(node("n"), pod("p").cpu("4001m")), "claim 0");
  EXPECT_EQ(place(node("n").runs(pod("b").cpu("1")), pod("p").cpu("3500m")), "claim 0");
}

TEST(ExistingNodes, TakeNoMorePodsThanTheirLimit) {
  auto full = node("n");
  for (int i = 0; i < 5; ++i) {
    full.runs(pod("b" + std::to_string(i)));
  }
  EXPECT_EQ(place(full, pod("p")), "claim 0");
}

TEST(ExistingNodes, OnTheirWayOutAreNotUsed) {
  EXPECT_EQ(place(node("n").with_record([](auto& r) { r.marked_for_deletion = true; }), pod("p")),
            "claim 0");
  EXPECT_EQ(place(node("n").with_record([](auto& r) { r.fenced = true; }), pod("p")), "claim 0");
}

TEST(ExistingNodes, CordonedAreNotUsedEvenBeforeTheTaintArrives) {
  EXPECT_EQ(place(node("n").with_node([](auto& n) { n.unschedulable = true; }), pod("p")),
            "claim 0");
}

TEST(ExistingNodes, WithATaintNeedAToleration) {
  EXPECT_EQ(place(node("n").taint("k", "v", "NoSchedule"), pod("p")), "claim 0");
  EXPECT_EQ(
      place(node("n").taint("k", "v", "NoSchedule"), pod("p").tolerates("k", "v", "NoSchedule")),
      "n");
}

TEST(ExistingNodes, StartupTaintsMatterOnlyAfterInitialization) {
  const auto startup = node("n").taint("s", "", "NoSchedule").with_claim([](auto& c) {
    c.startup_taints.push_back({.key = "s", .effect = "NoSchedule"});
  });
  NodeBuilder starting = startup;
  EXPECT_EQ(place(starting.uninitialized(), pod("p")), "n");
  EXPECT_EQ(place(startup, pod("p")), "claim 0");
}

TEST(ExistingNodes, EphemeralTaintsAreIgnoredUntilInitialization) {
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
                          "readiness.k8s.io/network"}) {
    EXPECT_EQ(place(node("n").uninitialized().taint(key, "", "NoSchedule"), pod("p")), "n") << key;
  }
  EXPECT_EQ(place(node("n").uninitialized().taint("other", "", "NoSchedule"), pod("p")), "claim 0");
}

TEST(ExistingNodes, NotReadyForAMomentIsStillCapacityButUnreachableIsNot) {
  EXPECT_EQ(place(node("n").taint("node.kubernetes.io/not-ready", "", "NoSchedule"), pod("p")),
            "n");
  EXPECT_EQ(place(node("n").taint("node.kubernetes.io/unreachable", "", "NoSchedule"), pod("p")),
            "claim 0");
}

TEST(ExistingNodes, FillBeforeAnythingIsBoughtInitializedOnesFirst) {
  const Plan plan = with_pool()
                        .add(node("a").uninitialized())
                        .add(node("b"))
                        .add(node("c"))
                        .add(pods(4, "p", pod("p").cpu("3")))
                        .solve();
  EXPECT_EQ(place_of(plan, "p-1000"), "b");
  EXPECT_EQ(place_of(plan, "p-1001"), "c");
  EXPECT_EQ(place_of(plan, "p-1002"), "a");
  EXPECT_EQ(place_of(plan, "p-1003"), "claim 0");
}

TEST(ExistingNodes, NotOwnedByAnyoneAreUsedToo) {
  const Plan plan =
      with_pool().add(node("n").unmanaged()).add(pods(3, "p", pod("p").cpu("1"))).solve();
  EXPECT_THAT(plan.claims, IsEmpty());
}

TEST(ExistingNodes, KeepRoomForDaemonsThatAreStillToCome) {
  const auto daemon = daemon_set("d", pod("d").cpu("2"));
  const auto two_fit = [&](const NodeBuilder& where) {
    return with_pool()
        .add(where)
        .add(daemon)
        .add(pods(2, "p", pod("p").cpu("1500m")))
        .solve()
        .claims.empty();
  };
  EXPECT_FALSE(two_fit(node("n")));
  EXPECT_TRUE(two_fit(node("n").allocatable("cpu", "5")));
  // Bound daemons are counted once.
  EXPECT_TRUE(two_fit(
      node("n").allocatable("cpu", "5").runs(pod("d-1").cpu("2").owned_by("DaemonSet", "d"))));
}

TEST(ExistingNodes, DoNotMindADaemonPodNobodyExpected) {
  const Plan plan = with_pool()
                        .add(node("n").runs(pod("stray").cpu("1").owned_by("DaemonSet", "gone")))
                        .add(pod("p").cpu("3"))
                        .solve();
  EXPECT_EQ(place_of(plan, "p"), "n");
}

TEST(ExistingNodes, KeepNoRoomForDaemonsThatDoNotRunThere) {
  for (const auto& daemon :
       {daemon_set("d", pod("d").cpu("3").selects("absent", "x")),
        daemon_set("d", pod("d").cpu("3").selects(model::kZoneLabel, "test-zone-3"))}) {
    EXPECT_EQ(place_of(with_pool().add(node("n")).add(daemon).add(pod("p").cpu("3")).solve(), "p"),
              "n");
  }
  // A well-known label that the node lacks does not make the daemon run there either.
  const auto arch = daemon_set("d", pod("d").cpu("3").selects(model::kArchLabel, "amd64"));
  EXPECT_EQ(
      place_of(with_pool().add(node("n").unmanaged()).add(arch).add(pod("p").cpu("3")).solve(),
               "p"),
      "n");
}

TEST(ExistingNodes, ADaemonThatWaitsForRegistrationCountsOnceRegistered) {
  const auto daemon = daemon_set("d", pod("d").cpu("3").selects(model::kRegisteredLabel, "true"));
  EXPECT_EQ(place_of(with_pool().add(node("n")).add(daemon).add(pod("p").cpu("3")).solve(), "p"),
            "claim 0");
}

TEST(ExistingNodes, HostPortsOfBoundPodsAreTaken) {
  const auto where = node("n").runs(pod("b").host_port(80));
  EXPECT_EQ(place(where, pod("p").host_port(80)), "claim 0");
  EXPECT_EQ(place(where, pod("p").host_port(81)), "n");
  EXPECT_EQ(place(where, pod("p").host_port(80, "", "UDP")), "n");
}

TEST(ExistingNodes, HostPortsConflictByAddressAndWildcard) {
  const auto where = node("n").runs(pod("b").host_port(80, "10.0.0.1"));
  EXPECT_EQ(place(where, pod("p").host_port(80, "10.0.0.2")), "n");
  EXPECT_EQ(place(where, pod("p").host_port(80, "10.0.0.1")), "claim 0");
  EXPECT_EQ(place(where, pod("p").host_port(80, "0.0.0.0")), "claim 0");
  EXPECT_EQ(place(where, pod("p").host_port(80, "::")), "claim 0");
}

TEST(ExistingNodes, PodsWithOneHostPortGoToDifferentNewNodes) {
  const Plan plan = with_pool().add(pods(3, "p", pod("p").host_port(80))).solve();
  EXPECT_THAT(plan.claims, SizeIs(3));
}

TEST(ExistingNodes, AreLeftAloneWithoutPools) {
  const Plan plan = ProblemBuilder().add(node("n")).add(pods(2, "p", pod("p").cpu("3"))).solve();
  EXPECT_THAT(plan.placements, SizeIs(1));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_EQ(plan.refusals[0].reason, "it fits on no node, and no NodePool may grow");
}

// --- Claims that are created but not launched ---------------------------------------------------

NodeBuilder unlaunched(std::vector<std::string> instance_types, std::vector<std::string> zones) {
  return node("x").without_node().with_claim([&](model::NodeClaim& claim) {
    claim.provider_id.clear();
    claim.capacity.clear();
    claim.allocatable.clear();
    claim.meta.labels = {{std::string(model::kNodePoolLabel), "default"}};
    claim.requirements = {need(model::kInstanceTypeLabel, Operator::In, instance_types),
                          need(model::kZoneLabel, Operator::In, zones)};
    claim.requests = resources({{"cpu", "1"}, {"pods", "1"}});
  });
}

TEST(UnlaunchedClaims, AreCapacityAsFarAsEveryOptionAllows) {
  const auto claim = unlaunched({"small", "large"}, {"test-zone-1", "test-zone-2"});
  EXPECT_EQ(place(claim, pod("p").cpu("1900m")), "claim-x");
  EXPECT_EQ(place(claim, pod("p").cpu("2")), "claim 0");
  EXPECT_EQ(place(unlaunched({"large"}, {"test-zone-1"}), pod("p").cpu("15")), "claim-x");
}

TEST(UnlaunchedClaims, PromiseOnlyLabelsThatEveryOptionHas) {
  const auto claim = unlaunched({"small", "large"}, {"test-zone-1", "test-zone-2"});
  const auto zone = [](std::vector<std::string> values) {
    return need(model::kZoneLabel, Operator::In, std::move(values));
  };
  EXPECT_EQ(place(claim, pod("p").requires_term({zone({"test-zone-1"})})), "claim 0");
  EXPECT_EQ(
      place(claim, pod("p").requires_term({zone({"test-zone-1", "test-zone-2", "test-zone-3"})})),
      "claim-x");
  EXPECT_EQ(place(claim, pod("p").selects(model::kArchLabel, "amd64")), "claim-x");
  EXPECT_EQ(place(claim, pod("p").selects(model::kArchLabel, "arm64")), "");
  EXPECT_EQ(place(claim, pod("p").selects(model::kInstanceTypeLabel, "small")), "claim 0");
}

TEST(UnlaunchedClaims, AreNotBoughtTwiceForThePodsTheyWereMadeFor) {
  const Plan plan =
      with_pool()
          .add(unlaunched({"small"}, {"test-zone-1"}))
          .add(pod("p").cpu("1"))
          .with([](Problem& problem) {
            problem.kept.push_back(
                {.target = "claim-x", .pod_uid = "p", .requests = resources({{"cpu", "1"}})});
          })
          .solve();
  EXPECT_EQ(place_of(plan, "p"), "claim-x");
}

TEST(UnlaunchedClaims, OfTypesNobodyKnowsStillHoldWhatTheyWereMadeFor) {
  const auto claim = unlaunched({"vanished"}, {"test-zone-1"});
  EXPECT_EQ(place(claim, pod("p").cpu("1")), "claim-x");
  EXPECT_EQ(place(claim, pod("p").cpu("1100m")), "claim 0");
  const auto beside_a_daemon_set = [&](const std::string& cpu) {
    return place_of(with_pool()
                        .add(NodeBuilder(claim).with_claim(
                            [](model::NodeClaim& made) { made.requests["pods"] = quantity("2"); }))
                        .add(daemon_set("d", pod("d").cpu("400m")))
                        .add(pod("p").cpu(cpu))
                        .solve(),
                    "p");
  };
  EXPECT_EQ(beside_a_daemon_set("600m"), "claim-x");
  EXPECT_EQ(beside_a_daemon_set("700m"), "claim 0") << "its requests are the DaemonSet's, too";
}

// It may be there again by the time of the launch.
TEST(UnlaunchedClaims, HaveNoMoreRoomWhileTheirSmallestTypeIsSoldOut) {
  const auto place_beside = [](const std::string& cpu) {
    return place_of(ProblemBuilder()
                        .add(pool("default"),
                             types({type("small").cpu("2").unavailable(), type("large").cpu("16")}))
                        .add(unlaunched({"small", "large"}, {"test-zone-1"}))
                        .add(pod("p").cpu(cpu))
                        .solve(),
                    "p");
  };
  EXPECT_EQ(place_beside("1"), "claim-x");
  EXPECT_EQ(place_beside("3"), "claim 0");
}

}  // namespace
}  // namespace millwright::scheduling::testing
