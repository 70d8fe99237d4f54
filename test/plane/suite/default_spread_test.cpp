// Default topology spread constraints (--scheduler-config) beside real Services and ReplicaSets:
// Deployments that say nothing about spreading get nodes in different zones.

#include "plane/suite/fixture.hpp"

#include <set>

namespace millwright::plane {
namespace {

constexpr const char* kConfiguration = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
)";

TEST(DefaultSpread, ReplicasThatSayNothingGetNodesInDifferentZones) {
  ClusterOptions options;
  options.controller.environment["SCHEDULER_CONFIG"] = kConfiguration;
  const auto cluster = Cluster::start(std::move(options));
  ASSERT_NE(cluster, nullptr);
  cluster->apply(node_pool("spread", "Never"));
  cluster->apply(deployment({.name = "spread", .replicas = 3, .pool = "spread"}));
  cluster->wait_running("spread", 3);
  std::set<std::string> zones;
  for (const auto& node : cluster->nodes("spread")) {
    zones.insert(text_at(node, "/metadata/labels/topology.kubernetes.io~1zone"));
  }
  EXPECT_EQ(zones.size(), 3U);
}

}  // namespace
}  // namespace millwright::plane
