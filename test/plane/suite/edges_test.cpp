// Nodes that do not come up as they should, and what runs on every node.

#include "plane/suite/fixture.hpp"

namespace millwright::plane {
namespace {

using testing::HasSubstr;

// Machines that never register: launched, paid for, and given up.
TEST(Unregistered, NodesAreGivenUpAfterTheTimeoutAndTriedAgain) {
  const auto cluster =
      Cluster::start({.controller = {.flags = {"--registration-timeout=8s"}},
                      .cloud = std::vector<std::string>{"--boot=1h", "--termination=0s"}});
  ASSERT_NE(cluster, nullptr);
  cluster->apply(node_pool("silent", "Never"));
  cluster->apply(deployment({.name = "silent", .pool = "silent"}));
  std::string first;
  cluster->wait("a claim is launched", seconds(30), [&] {
    const auto claims = cluster->claims("silent");
    first = claims.empty() ? "" : text_at(claims.front(), "/status/providerID");
    return !first.empty();
  });
  cluster->wait("another one takes its place", seconds(60), [&] {
    const auto claims = cluster->claims("silent");
    return claims.size() == 1 && !text_at(claims.front(), "/status/providerID").empty() &&
           text_at(claims.front(), "/status/providerID") != first;
  });
  for (const auto& instance : cluster->cloud().instances()) {
    EXPECT_NE(text_at(instance, "/providerID"), first) << "its instance is still there";
  }
  EXPECT_TRUE(cluster->nodes().empty());
}

// Nearly a third of all that the controller writes is answered with a conflict or a failure.
TEST(Faults, OfWritesDelayNobodyForGood) {
  ClusterOptions options;
  options.cloud = std::vector<std::string>{"--launch=1s", "--lost-replies=0.3", "--errors=0.2"};
  options.faults = ProxyFaults{.conflicts = 0.15, .failures = 0.15};
  const auto cluster = Cluster::start(std::move(options));
  ASSERT_NE(cluster, nullptr);
  cluster->apply(node_pool("faulty", "0s"));
  cluster->apply(deployment({.name = "faulty", .replicas = 12, .cpu = "2", .pool = "faulty"}));
  cluster->wait_running("faulty", 12, seconds(180));
  cluster->kubectl({"scale", "deployment", "faulty", "--replicas=2"});
  cluster->wait("few nodes are left, with as many instances", seconds(240), [&] {
    return cluster->running("faulty") == 2 && cluster->nodes("faulty").size() == 1 &&
           cluster->claims("faulty").size() == 1 && cluster->cloud().instances().size() == 1;
  });
  EXPECT_GE(cluster->proxy().spoiled(), 3U);
  cluster->clean_up("faulty", "faulty");
  EXPECT_TRUE(cluster->cloud().instances().empty());
}

// A DaemonSet says nothing about what it needs; its namespace's LimitRange does, and only the API
// server knows, when it makes the pods.
TEST(DaemonSets, AreCountedWithWhatALimitRangeGivesThem) {
  const auto cluster = Cluster::start();
  ASSERT_NE(cluster, nullptr);
  cluster->apply(R"(apiVersion: v1
kind: Namespace
metadata: {name: agents}
---
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: agents}
spec: {limits: [{type: Container, defaultRequest: {cpu: "1"}}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: agents}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {tolerations: [{operator: Exists}], containers: [{name: agent, image: "registry.k8s.io/pause:3.10"}]}
)");
  // The first node shows what an agent's pod looks like, whether there is room for it or not.
  cluster->apply(node_pool("agents", "Never"));
  cluster->apply(deployment({.name = "small", .replicas = 1, .cpu = "100m", .pool = "agents"}));
  cluster->wait_running("small", 1);
  cluster->wait("an agent's pod was made", seconds(30),
                [&] { return !cluster->plane().list("/api/v1/namespaces/agents/pods").empty(); });
  // Fits a node of 4 vCPU alone, but not together with an agent.
  cluster->apply(deployment({.name = "large", .replicas = 1, .cpu = "3500m", .pool = "agents"}));
  cluster->wait_running("large", 1);
  EXPECT_EQ(cluster->claims("agents").size(), 2U);
  EXPECT_THAT(cluster->kubectl({"get", "nodeclaims", "-o", "wide"}), HasSubstr("c-8x-amd64-linux"));
}

}  // namespace
}  // namespace millwright::plane
