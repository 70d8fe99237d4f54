// Pods become nodes through the real scheduler and our extender, and idle nodes go.

#include "plane/suite/fixture.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace millwright::plane {
namespace {

using Scaling = OnCluster<struct ScalingTag>;

// Pods by the node they are bound to.
std::map<std::string, int> bound(const std::vector<json::value>& pods) {
  std::map<std::string, int> count;
  for (const auto& pod : pods) {
    ++count[text_at(pod, "/spec/nodeName")];
  }
  return count;
}

TEST_F(Scaling, BuysNodesForPendingPodsAndReturnsThemWhenEmpty) {
  cluster().apply(node_pool("up"));
  cluster().apply(deployment({.name = "web", .replicas = 7, .pool = "up"}));
  cluster().wait_running("web", 7);

  const auto nodes = cluster().nodes("up");
  const auto claims = cluster().claims("up");
  ASSERT_FALSE(nodes.empty());
  EXPECT_EQ(nodes.size(), claims.size());
  std::set<std::string> planned;
  for (const auto& claim : claims) {
    planned.insert(text_at(claim, "/status/nodeName"));
  }
  for (const auto& [node, count] : bound(cluster().pods("web"))) {
    EXPECT_TRUE(planned.contains(node)) << count << " pods on " << node;
  }
  EXPECT_GT(cluster().controller().metric("millwright_extender_requests_total"), 0)
      << cluster().controller().metrics();

  cluster().kubectl({"scale", "deployment", "web", "--replicas=0"});
  cluster().wait_no_nodes("up");
  cluster().clean_up("web", "up");
}

// The ReplicaSet controller makes pods in batches of 1, 2, 4, ..., and the scheduler tries the
// first before the second exists.
TEST_F(Scaling, BuysForAWholeDeploymentAtOnce) {
  for (const std::string name : {"burst-a", "burst-b", "burst-c"}) {
    cluster().apply(node_pool(name, "Never"));
    cluster().apply(deployment({.name = name, .replicas = 6, .pool = name}));
    cluster().wait_running(name, 6);
    EXPECT_EQ(cluster().claims(name).size(), 1U) << name;
    cluster().clean_up(name, name);
  }
}

}  // namespace
}  // namespace millwright::plane
