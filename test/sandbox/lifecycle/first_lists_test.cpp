// What is waited for at the start, and what is done without.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <string>

namespace millwright::test {
namespace {

using testing::HasSubstr;

class FirstLists : public LifecycleFixture {
 protected:
  void start_with(sandbox::Faults faults) {
    app::EmbeddedOptions options;
    options.world.api.faults = std::move(faults);
    start(std::move(options));
    apply_class();
    apply_pool();
    deploy({.name = "web", .replicas = 2});
    run_for(minutes(2));
  }
};

class FirstListOf : public FirstLists, public testing::WithParamInterface<std::string> {};

TEST_P(FirstListOf, EveryKindIsWaitedFor) {
  start_with({.broken = {GetParam()}});
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 0\n"));
  EXPECT_EQ(running("web"), 0U);
  api().set_faults({});
  EXPECT_TRUE(wait_running("web", 2));
}

INSTANTIATE_TEST_SUITE_P(Resources, FirstListOf,
                         testing::Values("replicasets", "statefulsets", "jobs", "resourcequotas",
                                         "daemonsets", "poddisruptionbudgets",
                                         "persistentvolumeclaims", "persistentvolumes",
                                         "storageclasses", "csinodes", "volumeattachments",
                                         "namespaces", "priorityclasses", "kwoknodeclasses"));

// Each pool of a list once cost a snapshot of all of them, and a copy of each.
TEST_F(FirstLists, OfManyNodePoolsCostFewSnapshots) {
  constexpr std::size_t kPools = 1'000;
  start();
  apply_class();
  for (std::size_t i = 0; i < kPools; ++i) {
    apply_pool({.name = "pool-" + std::to_string(i)});
  }
  ASSERT_TRUE(wait([&] { return state().latest()->node_pools.size() == kPools; }));
  EXPECT_LT(state().latest()->generation, kPools / 2);
}

// The watch that is open may still speak; the next one fails.
TEST_F(FirstLists, DoNotCountForEver) {
  start_with({});
  api().set_faults({.broken = {"pods"}});
  run_for(minutes(8));
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 0\n"));
  scale("web", 4);
  run_for(minutes(2));
  api().set_faults({});
  EXPECT_TRUE(wait_running("web", 4));
  run_for(minutes(2));
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 1\n"));
}

TEST_F(FirstLists, ThatMayNotBeReadAreDoneWithout) {
  start_with({.forbidden = {"replicasets", "replicationcontrollers", "statefulsets", "jobs",
                            "resourcequotas", "daemonsets", "poddisruptionbudgets", "csinodes",
                            "volumeattachments"}});
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 1\n"));
  EXPECT_TRUE(wait_running("web", 2));
}

// An authorizer that fails refuses everything. What could be done without was, once the rest could
// be read again and until its own next try.
TEST_F(FirstLists, ThatWereRefusedWithAllOthersAreAwaited) {
  start_with({.forbidden = {"pods", "nodes", "nodepools", "nodeclaims", "kwoknodeclasses"}});
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 0\n"));
  api().set_faults({.late_lists = {{"kwoknodeclasses", seconds(25)}}});
  ASSERT_TRUE(wait([&] { return state().latest()->synced; }, minutes(3)));
  EXPECT_FALSE(state().latest()->node_classes.empty());
  EXPECT_TRUE(wait_running("web", 2));
}

// The watch that is open goes on for up to five minutes; the next one is refused.
TEST_F(FirstLists, OfAKindWhoseRightIsTakenAwayAreDoneWithout) {
  start_with({});
  api().set_faults({.forbidden = {"resourcequotas"}});
  base::Duration stale{};
  for (int i = 0; i < 96; ++i) {
    run_for(seconds(5));
    stale += state().latest()->synced ? seconds(0) : seconds(5);
  }
  EXPECT_THAT(metrics(), HasSubstr("client_go_request_total{code=\"403\",method=\"GET\"}"));
  EXPECT_LE(stale, minutes(1));
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 1\n"));
  scale("web", 4);
  EXPECT_TRUE(wait_running("web", 4));
}

// What changed meanwhile is not known before a kind is heard of again.
TEST_F(FirstLists, ThatAreRefusedLaterWithAllOthersAreAwaited) {
  start_with({});
  sandbox::Faults everything;
  for (const auto& resource : model::all_resources()) {
    everything.forbidden.emplace(resource.plural);
  }
  api().set_faults(std::move(everything));
  run_for(minutes(8));
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 0\n"));
  apply_class("another");
  api().set_faults({.broken = {"kwoknodeclasses"}});
  run_for(minutes(2));
  EXPECT_THAT(metrics(), HasSubstr("\nkarpenter_cluster_state_synced 0\n"));
  api().set_faults({.late_lists = {{"kwoknodeclasses", seconds(25)}}});
  ASSERT_TRUE(wait([&] { return state().latest()->synced; }, minutes(3)));
  EXPECT_THAT(state().latest()->node_classes, testing::SizeIs(2));
  scale("web", 4);
  EXPECT_TRUE(wait_running("web", 4));
}

// A NodeClass that may not be read is not one that does not exist.
TEST_F(FirstLists, AClaimWaitsForANodeClassThatMayNotBeRead) {
  start_with({.forbidden = {"kwoknodeclasses"}});
  apply(R"(
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: alone}
spec:
  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
  requirements:
  - {key: kubernetes.io/os, operator: In, values: [linux]}
  - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  resources: {requests: {cpu: "1"}}
)");
  run_for(minutes(1));
  EXPECT_EQ(text_of(model::kNodeClaimResource, "alone", "/metadata/deletionTimestamp"), "");
  api().set_faults({});
  EXPECT_TRUE(
      wait([&] { return condition(model::kNodeClaimResource, "alone", "Initialized") == "True"; },
           minutes(3)));
}

}  // namespace
}  // namespace millwright::test
