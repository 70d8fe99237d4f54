// What the feature gates let in, on a real API server and under the roles of `millwright install`.

#include "plane/suite/fixture.hpp"

#include <algorithm>

namespace millwright::plane {
namespace {

using testing::HasSubstr;

constexpr const char* kAllGates =
    "--feature-gates=NodeOverlay=true,CapacityBuffer=true,StaticCapacity=true";
constexpr const char* kBuffers =
    "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/default/capacitybuffers";

class Gates : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = Cluster::start({.controller = {.flags = {kAllGates}}});
  }
  static void TearDownTestSuite() { cluster_.reset(); }
  void SetUp() override { ASSERT_NE(cluster_, nullptr) << "the control plane is not up"; }

  inline static std::unique_ptr<Cluster> cluster_;
};

// status, reason: "True Ready".
std::string condition(const json::value& object, std::string_view type) {
  boost::system::error_code none;
  const auto* conditions = object.find_pointer("/status/conditions", none);
  if (conditions == nullptr || !conditions->is_array()) {
    return "";
  }
  for (const auto& each : conditions->get_array()) {
    if (text_at(each, "/type") == type) {
      return text_at(each, "/status") + " " + text_at(each, "/reason");
    }
  }
  return "";
}

// Every source that a buffer can have, without a pod yet.
constexpr const char* kSources = R"(apiVersion: v1
kind: PodTemplate
metadata: {name: source}
template:
  metadata: {labels: {app: source}}
  spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: source}
spec:
  replicas: 0
  serviceName: source
  selector: {matchLabels: {app: stateful}}
  template:
    metadata: {labels: {app: stateful}}
    spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: source}
spec:
  replicas: 0
  selector: {matchLabels: {app: replicated}}
  template:
    metadata: {labels: {app: replicated}}
    spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}]}
)";

std::string buffer(const std::string& name, const std::string& source) {
  return "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: " +
         name + ", annotations: {millwright.io/keep-for-owner: \"true\"}}\nspec: {replicas: 1, " +
         source + "}\n---\n";
}

TEST_F(Gates, BuffersOfEverySourceGetRoomThatTheirOwnersUse) {
  cluster_->apply(node_pool("room", "0s"));
  cluster_->apply(kSources);
  cluster_->apply(deployment({.name = "web", .replicas = 0}));
  cluster_->apply(
      buffer("template", "podTemplateRef: {name: source}") +
      buffer("stateful", "scalableRef: {apiGroup: apps, kind: StatefulSet, name: source}") +
      buffer("replicated", "scalableRef: {apiGroup: apps, kind: ReplicaSet, name: source}") +
      buffer("web", "scalableRef: {apiGroup: apps, kind: Deployment, name: web}"));
  cluster_->wait("every buffer has its room", seconds(120), [&] {
    const auto buffers = cluster_->plane().list(kBuffers);
    return buffers.size() == 4 && std::all_of(buffers.begin(), buffers.end(), [](const auto& each) {
             return condition(each, "Provisioning") == "True FitsExistingCapacity";
           });
  });
  cluster_->kubectl({"scale", "deployment", "web", "--replicas=1"});
  cluster_->wait_running("web", 1);
  cluster_->kubectl({"delete", "capacitybuffers", "--all"});
  cluster_->clean_up("web", "room");
}

TEST_F(Gates, AnOverlayDecidesWhatIsBoughtAndAConflictIsTold) {
  cluster_->apply(R"(apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: contract}
spec:
  weight: 10
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m-64x-amd64-linux]}]
  price: "0.0001"
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: rebate}
spec: {requirements: [], priceAdjustment: "-10%"}
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: surcharge}
spec: {requirements: [], priceAdjustment: "+10%"}
)");
  cluster_->apply(node_pool("overlaid", "0s"));
  const auto overlay = [&](const std::string& name) {
    return cluster_->plane().call("GET", "/apis/karpenter.sh/v1alpha1/nodeoverlays/" + name).body;
  };
  cluster_->wait("the overlays are judged", seconds(60), [&] {
    return condition(overlay("contract"), "Ready") == "True Ready" &&
           condition(overlay("rebate"), "ValidationSucceeded") == "False Conflict";
  });
  cluster_->apply(deployment({.name = "web", .replicas = 1, .pool = "overlaid"}));
  cluster_->wait_running("web", 1);
  const std::string claim = json::serialize(cluster_->claims("overlaid").at(0));
  EXPECT_THAT(claim, HasSubstr("m-64x-amd64-linux"));
  EXPECT_THAT(claim, HasSubstr(R"("karpenter.sh/price-overlay-applied":"true")"));
  cluster_->kubectl({"delete", "nodeoverlays", "--all"});
  cluster_->clean_up("web", "overlaid");
}

TEST_F(Gates, AStaticPoolKeepsTheNumberThatKubectlScaleSays) {
  cluster_->apply(node_pool("fixed", "0s", "  replicas: 2\n"));
  const auto has = [&](std::size_t count) {
    return cluster_->nodes("fixed").size() == count && cluster_->claims("fixed").size() == count;
  };
  cluster_->wait("two nodes without a pod", seconds(60), [&] { return has(2); });
  cluster_->kubectl({"scale", "nodepool", "fixed", "--replicas=1"});
  cluster_->wait("one node is left", seconds(90), [&] { return has(1); });
  cluster_->kubectl({"delete", "nodepool", "fixed", "--wait=false"});
  cluster_->wait_no_nodes("fixed");
}

}  // namespace
}  // namespace millwright::plane
