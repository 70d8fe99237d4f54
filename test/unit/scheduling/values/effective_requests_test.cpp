// What a pod takes from a node, and which pods are planned.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

model::Container container(std::string name, model::ResourceList requests,
                           bool restart_always = false) {
  return {
      .name = std::move(name), .requests = std::move(requests), .restart_always = restart_always};
}

model::Pod pod_of(std::vector<model::Container> containers,
                  std::vector<model::Container> init_containers = {}) {
  model::Pod pod;
  pod.spec.containers = std::move(containers);
  pod.spec.init_containers = std::move(init_containers);
  return pod;
}

struct RequestsCase {
  std::string what;
  model::Pod pod;
  model::ResourceList expected;  // "pods: 1" apart
};

model::Pod edited(model::Pod pod, void (*edit)(model::Pod&)) {
  edit(pod);
  return pod;
}

TEST(EffectiveRequests, CountLikeKubeScheduler) {
  const auto cpu = [](std::string_view amount) { return resources({{"cpu", amount}}); };
  const std::vector<RequestsCase> cases = {
      {"nothing requested", pod_of({container("a", {})}), {}},
      {"containers add up",
       pod_of({container("a", resources({{"cpu", "1"}, {"memory", "1Gi"}})),
               container("b", cpu("2"))}),
       resources({{"cpu", "3"}, {"memory", "1Gi"}})},
      {"the largest init container counts, not their sum",
       pod_of({container("a", cpu("1"))}, {container("i", cpu("3")), container("j", cpu("2"))}),
       cpu("3")},
      {"per resource the larger of both",
       pod_of({container("a", resources({{"cpu", "2"}, {"memory", "1Gi"}}))},
              {container("i", resources({{"cpu", "1"}, {"memory", "4Gi"}}))}),
       resources({{"cpu", "2"}, {"memory", "4Gi"}})},
      {"sidecars add to containers",
       pod_of({container("a", cpu("1"))}, {container("s", cpu("2"), true)}), cpu("3")},
      {"an init container runs beside the sidecars started before it",
       pod_of({container("a", cpu("1"))},
              {container("s", cpu("2"), true), container("i", cpu("4"))}),
       cpu("6")},
      {"but not beside those started after it",
       pod_of({container("a", cpu("1"))},
              {container("i", cpu("4")), container("s", cpu("2"), true)}),
       cpu("4")},
      {"sidecars before, between and after",
       pod_of({container("a", cpu("1"))},
              {container("s", cpu("1"), true), container("i", cpu("3")),
               container("t", cpu("1"), true), container("j", cpu("5"))}),
       cpu("7")},
      {"overhead is added to all of it",
       edited(pod_of({container("a", cpu("1"))}, {container("i", cpu("2"))}),
              [](model::Pod& pod) {
                pod.spec.overhead = resources({{"cpu", "250m"}});
              }),
       cpu("2250m")},
      {"pod-level resources replace the sum",
       edited(pod_of({container("a", resources({{"cpu", "1"}, {"memory", "1Gi"}, {"gpu", "1"}}))}),
              [](model::Pod& pod) {
                pod.spec.pod_requests = resources({{"cpu", "5"}, {"gpu", "9"}});
              }),
       resources({{"cpu", "5"}, {"memory", "1Gi"}, {"gpu", "1"}})},
      {"overhead goes on top of pod-level resources",
       edited(pod_of({container("a", cpu("1"))}),
              [](model::Pod& pod) {
                pod.spec.pod_requests = resources({{"cpu", "5"}});
                pod.spec.overhead = resources({{"cpu", "1"}});
              }),
       cpu("6")},
      {"a resize down counts only once granted",
       edited(pod_of({container("a", cpu("1"))}),
              [](model::Pod& pod) {
                pod.status.container_statuses.push_back(
                    {"a", resources({{"cpu", "3"}}), resources({{"cpu", "2"}})});
              }),
       cpu("3")},
      {"a resize up counts at once",
       edited(pod_of({container("a", cpu("4"))}),
              [](model::Pod& pod) {
                pod.status.container_statuses.push_back(
                    {"a", resources({{"cpu", "3"}}), resources({{"cpu", "3"}})});
              }),
       cpu("4")},
      {"an infeasible resize counts for nothing",
       edited(pod_of({container("a", cpu("4"))}),
              [](model::Pod& pod) {
                pod.status.container_statuses.push_back(
                    {"a", resources({{"cpu", "3"}}), resources({{"cpu", "2"}})});
                pod.status.resize = "Infeasible";
              }),
       cpu("3")},
      {"infeasible may also be told by a condition",
       edited(pod_of({container("a", cpu("4"))}),
              [](model::Pod& pod) {
                pod.status.container_statuses.push_back({"a", resources({{"cpu", "3"}}), {}});
                pod.status.conditions.push_back(
                    {.type = "PodResizePending", .reason = "Infeasible"});
              }),
       cpu("3")},
  };
  for (const auto& test : cases) {
    model::ResourceList expected = test.expected;
    expected["pods"] = quantity("1");
    EXPECT_EQ(effective_requests(test.pod), expected)
        << test.what << ": " << model::to_string(effective_requests(test.pod));
  }
}

struct PodCase {
  std::string what;
  PodBuilder pod;
  bool expected;
};

TEST(Provisionable, ArePodsThatTheSchedulerGaveUpOn) {
  const std::vector<PodCase> cases = {
      {"unschedulable", pod("p"), true},
      {"not seen by the scheduler yet", pod("p").with([](auto& p) { p.status.conditions.clear(); }),
       false},
      {"gated",
       pod("p").with([](auto& p) { p.status.conditions.front().reason = "SchedulingGated"; }),
       false},
      {"bound", pod("p").with([](auto& p) { p.spec.node_name = "n"; }), false},
      {"nominated", pod("p").with([](auto& p) { p.status.nominated_node_name = "n"; }), false},
      {"a DaemonSet's", pod("p").owned_by("DaemonSet", "d"), false},
      {"a mirror", pod("p").with([](auto& p) {
         p.meta.owner_references.push_back({.api_version = "v1", .kind = "Node", .name = "n"});
       }),
       false},
      {"finished", pod("p").with([](auto& p) { p.status.phase = "Failed"; }), false},
      {"being deleted",
       pod("p").with([](auto& p) { p.meta.deletion_timestamp = base::TimePoint{}; }), false},
      {"opted out", pod("p").requires_term({need(model::kNodePoolLabel, Operator::DoesNotExist)}),
       false},
      {"asking for a certain pool", pod("p").selects(model::kNodePoolLabel, "x"), true},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(is_provisionable(test.pod.value()), test.expected) << test.what;
  }
}

TEST(Reschedulable, ArePodsThatComeBackWhenTheirNodeGoes) {
  const auto dying = [](auto& p) { p.meta.deletion_timestamp = base::TimePoint{}; };
  const std::vector<PodCase> cases = {
      {"running", pod("p").owned_by("ReplicaSet", "r"), true},
      {"without an owner", pod("p"), true},
      {"a dying ReplicaSet pod", pod("p").owned_by("ReplicaSet", "r").with(dying), false},
      {"a dying StatefulSet pod", pod("p").owned_by("StatefulSet", "s").with(dying), true},
      {"a DaemonSet's", pod("p").owned_by("DaemonSet", "d"), false},
      {"finished", pod("p").with([](auto& p) { p.status.phase = "Succeeded"; }), false},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(is_reschedulable(test.pod.value()), test.expected) << test.what;
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
