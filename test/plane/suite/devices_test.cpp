// Dynamic resource allocation: pods with ResourceClaims, kube-scheduler's own allocator, and this
// test in the place of a DRA driver.

#include "plane/suite/fixture.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

namespace millwright::plane {
namespace {

constexpr std::string_view kSlices = "/apis/resource.k8s.io/v1/resourceslices";
constexpr std::string_view kResourceClaims =
    "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

// Some types of the kwok cloud will have two devices.
constexpr const char* kDeviceConfiguration = R"(apiVersion: test.karpenter.sh/v1alpha1
kind: DRAConfig
metadata: {name: gpus}
spec:
  driver: gpu.example.com
  pools:
  - name: gpus
    nodeSelectorTerms:
    - matchExpressions:
      - key: node.kubernetes.io/instance-type
        operator: In
        values: [s-4x-amd64-linux, m-4x-amd64-linux]
    resourceSlices:
    - devices:
      - {name: gpu-0, attributes: {model: {string: a}}}
      - {name: gpu-1, attributes: {model: {string: a}}}
)";

constexpr const char* kDeviceClass = R"(apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel:
      expression: device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "a"
)";

// A pod with a claim of its own to one device. Nobody makes claims from templates here.
std::string pod_with_device(const std::string& name) {
  return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name +
         "}\nspec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}\n"
         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " +
         name +
         ", labels: {app: gpu}}\nspec:\n  terminationGracePeriodSeconds: 1\n"
         "  nodeSelector: {karpenter.sh/nodepool: gpus}\n"
         "  resourceClaims: [{name: gpu, resourceClaimName: " +
         name +
         "}]\n  containers:\n  - name: main\n    image: \"registry.k8s.io/pause:3.10\"\n"
         "    resources: {requests: {cpu: 100m}, claims: [{name: gpu}]}\n";
}

// All the devices of a node, as a driver's kubelet plugin publishes them.
json::value slice_of(const std::string& node) {
  json::array devices;
  for (const char* name : {"gpu-0", "gpu-1"}) {
    devices.push_back(json::object{
        {"name", name}, {"attributes", json::object{{"model", json::object{{"string", "a"}}}}}});
  }
  return json::object{
      {"apiVersion", "resource.k8s.io/v1"},
      {"kind", "ResourceSlice"},
      {"metadata", json::object{{"name", node + "-gpus"}}},
      {"spec",
       json::object{
           {"driver", "gpu.example.com"},
           {"nodeName", node},
           {"pool", json::object{{"name", node}, {"generation", 1}, {"resourceSliceCount", 1}}},
           {"devices", std::move(devices)}}}};
}

// status, reason: "Unknown DRADriverPoolsNotPublished".
std::string initialized(const json::value& claim) {
  boost::system::error_code none;
  const auto* conditions = claim.find_pointer("/status/conditions", none);
  if (conditions == nullptr || !conditions->is_array()) {
    return "";
  }
  for (const auto& each : conditions->get_array()) {
    if (text_at(each, "/type") == "Initialized") {
      return text_at(each, "/status") + " " + text_at(each, "/reason");
    }
  }
  return "";
}

class Devices : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(config_) << kDeviceConfiguration;
    ClusterOptions options;
    options.controller.flags = {"--ignore-dra-requests=false", "--dra-config-file=" + config_};
    cluster_ = Cluster::start(std::move(options));
    ASSERT_NE(cluster_, nullptr);
  }
  ~Devices() override { std::remove(config_.c_str()); }

  // Every claim of the pool says this of itself, and there are so many.
  bool all_initialized(std::size_t count, const std::string& as) {
    const auto claims = cluster_->claims("gpus");
    return claims.size() == count &&
           std::all_of(claims.begin(), claims.end(),
                       [&](const auto& claim) { return initialized(claim) == as; });
  }

  std::string config_ = testing::TempDir() + "plane-dra-config.yaml";
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(Devices, NodesAreBoughtForClaimsAndReadyOnceTheirDriverHasPublished) {
  cluster_->apply(node_pool("gpus", "Never"));
  std::string work = kDeviceClass;
  for (const char* name : {"one", "two", "three"}) {
    work += pod_with_device(name);
  }
  cluster_->apply(work);
  cluster_->wait("two nodes wait for their driver", seconds(60), [&] {
    return cluster_->nodes("gpus").size() == 2 &&
           all_initialized(2, "Unknown DRADriverPoolsNotPublished");
  });
  ASSERT_FALSE(HasFatalFailure());
  for (const auto& claim : cluster_->claims("gpus")) {
    EXPECT_EQ(text_at(claim, "/metadata/annotations/karpenter.sh~1requested-dra-drivers"),
              "gpu.example.com");
  }
  EXPECT_EQ(cluster_->running("gpu"), 0U);

  std::set<std::string> types;
  for (const auto& node : cluster_->nodes("gpus")) {
    types.insert(text_at(node, "/metadata/labels/node.kubernetes.io~1instance-type"));
    const auto answer = cluster_->plane().call("POST", std::string(kSlices),
                                               slice_of(text_at(node, "/metadata/name")));
    ASSERT_EQ(answer.status, 201) << json::serialize(answer.body);
  }
  EXPECT_THAT(types, testing::IsSubsetOf({"s-4x-amd64-linux", "m-4x-amd64-linux"}));
  cluster_->wait("both nodes are initialized", seconds(60),
                 [&] { return all_initialized(2, "True Initialized"); });
  cluster_->wait_running("gpu", 3);
  for (const auto& claim : cluster_->plane().list(std::string(kResourceClaims))) {
    EXPECT_EQ(text_at(claim, "/status/allocation/devices/results/0/driver"), "gpu.example.com");
  }
  EXPECT_EQ(cluster_->claims("gpus").size(), 2U) << "no node too many";
}

}  // namespace
}  // namespace millwright::plane
