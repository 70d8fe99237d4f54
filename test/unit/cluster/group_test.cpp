// Which pods are one group.
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <tuple>

namespace millwright::scheduling {
namespace {

using testing::PodBuilder;
using testing::reservation;

// A pod of the ReplicaSet "web", with everything that a group is told by.
model::Pod web(const std::string& name) {
  model::Pod pod = PodBuilder(name).requests(250, 128).priority(5).owned_by("web").value();
  pod.meta.labels = {{"app", "web"}};
  pod.spec.scheduler_name = "default-scheduler";
  pod.spec.node_selector = {{"disk", "ssd"}};
  pod.spec.tolerations.push_back({.key = "dedicated", .value = "web"});
  pod.spec.topology_spread.push_back(
      {.topology_key = "topology.kubernetes.io/zone",
       .when_unsatisfiable = "DoNotSchedule",
       .label_selector = model::LabelSelector{{{"app", "web"}}, {}}});
  pod.spec.affinity.required_node_terms.push_back(
      {.match_expressions = {{.key = "arch", .values = {"amd64"}}}});
  pod.spec.affinity.required_pod_anti_affinity.push_back({.topology_key = "host"});
  pod.spec.containers[0].ports.push_back({.container_port = 80, .host_port = 8080});
  pod.spec.volumes = {{.name = "data", .claim_name = "data"}, {.name = "kube-api-access-" + name}};
  return pod;
}

struct Change {
  std::string what;
  std::function<void(model::Pod&)> make;
};

TEST(GroupOf, IsTheSameForPodsThatDifferInNothingTheSchedulerLooksAt) {
  const Change changes[] = {
      {"name and uid", [](auto&) {}},
      {"the node it is bound to", [](auto& pod) { pod.spec.node_name = "n"; }},
      {"its state",
       [](auto& pod) {
         pod.status.phase = "Running";
         pod.status.nominated_node_name = "n";
       }},
      {"a deletion", [](auto& pod) { pod.meta.deletion_timestamp = testing::at(0); }},
      {"the token's volume", [](auto& pod) { pod.spec.volumes[1].name = "kube-api-access-x7k"; }},
      {"no token's volume", [](auto& pod) { pod.spec.volumes.pop_back(); }},
      {"a volume's name", [](auto& pod) { pod.spec.volumes[0].name = "store"; }},
      {"a port of its own", [](auto& pod) { pod.spec.containers[0].ports[0].container_port = 81; }},
      {"an image", [](auto& pod) { pod.spec.containers[0].image = "web:2"; }},
      {"an owner that is no controller",
       [](auto& pod) { pod.meta.owner_references.push_back({.kind = "Extra", .uid = "extra"}); }},
  };
  const GroupId group = group_of(web("web-1"));
  EXPECT_EQ(group.owner_uid(), "web");
  EXPECT_FALSE(group.is_whole_owner());
  for (const Change& change : changes) {
    model::Pod other = web("web-2");
    change.make(other);
    EXPECT_EQ(group_of(other), group) << change.what;
  }
}

TEST(GroupOf, IsAnotherForPodsThatTheSchedulerMayTreatDifferently) {
  const Change changes[] = {
      {"requests",
       [](auto& pod) { pod.spec.containers[0].requests = testing::resources(251, 128); }},
      {"an init container's requests",
       [](auto& pod) {
         pod.spec.init_containers.push_back({.name = "i", .requests = testing::resources(900)});
       }},
      {"overhead", [](auto& pod) { pod.spec.overhead = testing::resources(10); }},
      {"the node selector", [](auto& pod) { pod.spec.node_selector["disk"] = "hdd"; }},
      {"node affinity",
       [](auto& pod) {
         pod.spec.affinity.required_node_terms[0].match_expressions[0].values[0] = "arm64";
       }},
      {"preferred node affinity",
       [](auto& pod) { pod.spec.affinity.preferred_node_terms.push_back({.weight = 3}); }},
      {"pod affinity instead of anti-affinity",
       [](auto& pod) {
         std::swap(pod.spec.affinity.required_pod_affinity,
                   pod.spec.affinity.required_pod_anti_affinity);
       }},
      {"a toleration", [](auto& pod) { pod.spec.tolerations[0].value = "db"; }},
      {"a spread constraint", [](auto& pod) { pod.spec.topology_spread[0].max_skew = 2; }},
      {"a spread constraint's selector",
       [](auto& pod) { pod.spec.topology_spread[0].label_selector.reset(); }},
      {"a host port", [](auto& pod) { pod.spec.containers[0].ports[0].host_port = 8081; }},
      {"the claim of a volume", [](auto& pod) { pod.spec.volumes[0].claim_name = "data-1"; }},
      {"an ephemeral volume's class",
       [](auto& pod) {
         pod.spec.volumes[1].ephemeral = true;
         pod.spec.volumes[1].ephemeral_storage_class = "fast";
       }},
      {"a resource claim", [](auto& pod) { pod.spec.resource_claims.push_back({.name = "gpu"}); }},
      {"priority", [](auto& pod) { pod.spec.priority = 6; }},
      {"the scheduler", [](auto& pod) { pod.spec.scheduler_name = "other"; }},
      {"the controller", [](auto& pod) { pod.meta.owner_references[0].uid = "web-2"; }},
      {"no controller", [](auto& pod) { pod.meta.owner_references[0].controller = false; }},
  };
  const GroupId group = group_of(web("web-1"));
  for (const Change& change : changes) {
    model::Pod other = web("web-2");
    change.make(other);
    EXPECT_NE(group_of(other), group) << change.what;
  }
}

TEST(GroupOf, ABarePodIsAGroupOfItsOwn) {
  const model::Pod one = PodBuilder("one").requests(100).value();
  EXPECT_NE(group_of(one), group_of(PodBuilder("two").requests(100).value()));
  EXPECT_EQ(group_of(one), group_of(PodBuilder("one").requests(100).on("n").value()));
  EXPECT_EQ(group_of(one).owner_uid(), "uid-one");
}

TEST(GroupOf, APodWithAClaimOfItsOwnIsToldByItsName) {
  for (const auto& [pod, claim, own] : {
           std::tuple{"web-0", "data-web-0", true},
           std::tuple{"web-0", "data-web-1", false},
           std::tuple{"web-0", "web-0", false},
           std::tuple{"web-0", "data", false},
           std::tuple{"0", "data-web-0", true},
       }) {
    EXPECT_EQ(has_own_claim(PodBuilder(pod).claim(claim).value()), own) << pod << " " << claim;
  }
  EXPECT_FALSE(has_own_claim(PodBuilder("web-0").value()));
}

TEST(GroupId, OfAWholeOwnerIncludesItsGroupsAndNoOthers) {
  const GroupId all = GroupId::of_owner("web");
  const GroupId small = group_of(PodBuilder("a").requests(100).owned_by("web").value());
  const GroupId large = group_of(PodBuilder("a").requests(200).owned_by("web").value());
  const GroupId stranger = group_of(PodBuilder("a").requests(100).owned_by("web-2").value());
  EXPECT_TRUE(all.is_whole_owner());
  EXPECT_TRUE(all.includes(all));
  EXPECT_TRUE(all.includes(small));
  EXPECT_TRUE(all.includes(large));
  EXPECT_FALSE(all.includes(stranger));
  EXPECT_TRUE(small.includes(small));
  EXPECT_FALSE(small.includes(large));
  EXPECT_FALSE(small.includes(all));
}

TEST(Reservation, IsToldInFewWords) {
  Reservation some = reservation("web-1", "n", 100, 60);
  EXPECT_EQ(describe_pods(some), "pod default/web-1");
  some.count = 3;
  EXPECT_EQ(describe_pods(some), "3 pods such as default/web-1");
}

TEST(Demand, IsFoundByGroup) {
  const auto sample = PodBuilder("p").build();
  const Demand demand{{.group = GroupId("a/1"), .expected = 2, .later = 3, .sample = sample},
                      {.group = GroupId("c/1"), .waiting = {sample}, .sample = sample}};
  ASSERT_NE(find_demand(demand, GroupId("a/1")), nullptr);
  EXPECT_EQ(find_demand(demand, GroupId("a/1"))->needed(), 2);
  EXPECT_EQ(find_demand(demand, GroupId("a/1"))->most_reserved(), 5);
  EXPECT_EQ(find_demand(demand, GroupId("c/1"))->needed(), 1);
  for (const char* const unknown : {"a/0", "b/1", "d/1", ""}) {
    EXPECT_EQ(find_demand(demand, GroupId(unknown)), nullptr) << unknown;
  }
}

}  // namespace
}  // namespace millwright::scheduling
