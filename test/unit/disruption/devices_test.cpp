// Consolidation of nodes whose pods have devices (DRA): they move where devices are free.
#include "consolidation_cases.hpp"

namespace millwright::disruption {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::shared_ptr<model::Pod> with_device(std::string name) {
  auto result = pod(std::move(name));
  result->spec.resource_claims.push_back({.name = "gpu", .claim_name = {}, .template_name = "gpu"});
  return result;
}

// The devices of nodes, and those that pods have.
class Devices {
 public:
  Devices() {
    auto device_class = std::make_shared<model::DeviceClass>();
    device_class->meta.name = "gpu";
    snapshot_.device_classes.push_back(std::move(device_class));
    auto of = std::make_shared<model::ResourceClaimTemplate>();
    of->meta.name = "gpu";
    of->meta.namespace_ = "default";
    of->spec.requests.push_back({.name = "r", .class_name = "gpu", .first_available = {}});
    snapshot_.resource_claim_templates.push_back(std::move(of));
  }
  Devices& on(const std::string& node, int count) {
    auto slice = std::make_shared<model::ResourceSlice>();
    slice->meta.name = slice->node_name = slice->pool = node;
    slice->driver = "gpu.example.com";
    slice->slices_in_pool = 1;
    for (int i = 0; i < count; ++i) {
      slice->devices.emplace_back().name = std::to_string(i);
    }
    snapshot_.resource_slices.push_back(std::move(slice));
    return *this;
  }
  Devices& taken(const std::string& node, const std::string& device, const std::string& uid) {
    auto claim = std::make_shared<model::ResourceClaim>();
    claim->meta.name = uid;
    claim->meta.namespace_ = "default";
    claim->allocated = true;
    claim->devices = {{"gpu.example.com", node, device, false}};
    claim->reserved_for = {uid};
    snapshot_.resource_claims.push_back(std::move(claim));
    return *this;
  }
  // What is decided about the cluster with them.
  Decisions decide(const Cluster& cluster) const {
    Input input = cluster.input();
    auto all = std::make_shared<scheduling::Snapshot>(*input.snapshot);
    all->device_classes = snapshot_.device_classes;
    all->resource_claim_templates = snapshot_.resource_claim_templates;
    all->resource_slices = snapshot_.resource_slices;
    all->resource_claims = snapshot_.resource_claims;
    input.snapshot = std::move(all);
    input.options.solve.resource_claims = true;
    return disruption::decide(input);
  }

 private:
  scheduling::Snapshot snapshot_;
};

TEST(ConsolidationOfDevices, APodGoesWhereADeviceIsFree) {
  Cluster cluster;
  cluster.add_node("a", {with_device("p")});
  add_keeper(cluster, "b", 1000);
  const auto devices = Devices().on("a", 1).taken("a", "0", "uid-p").on("b", 1);
  EXPECT_THAT(claims_of(devices.decide(cluster)), ElementsAre("a-claim"));
}

// There is room for the pod on b, and no device.
TEST(ConsolidationOfDevices, ANodeStaysWhereTheOthersHaveNone) {
  Cluster cluster;
  cluster.add_node("a", {with_device("p")});
  add_keeper(cluster, "b", 1000);
  const auto none = Devices().on("a", 1).taken("a", "0", "uid-p");
  EXPECT_THAT(claims_of(none.decide(cluster)), IsEmpty());

  const auto in_use =
      Devices().on("a", 1).taken("a", "0", "uid-p").on("b", 1).taken("b", "0", "uid-x");
  EXPECT_THAT(claims_of(in_use.decide(cluster)), IsEmpty());
}

// One device for the pods of two nodes: one of the nodes can go.
TEST(ConsolidationOfDevices, ADeviceIsGivenOnce) {
  Cluster cluster;
  cluster.add_node("a", {with_device("p")});
  cluster.add_node("b", {with_device("q")});
  add_keeper(cluster, "c", 1000);
  const auto devices =
      Devices().on("a", 1).taken("a", "0", "uid-p").on("b", 1).taken("b", "0", "uid-q").on("c", 1);
  EXPECT_THAT(claims_of(devices.decide(cluster)), ::testing::SizeIs(1));
}

// Devices of other nodes hold nothing up, and neither do pods without claims.
TEST(ConsolidationOfDevices, OtherPodsMoveAsEver) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")});
  add_keeper(cluster, "b", 1000);
  EXPECT_THAT(claims_of(Devices().on("a", 1).decide(cluster)), ElementsAre("a-claim"));
}

}  // namespace
}  // namespace millwright::disruption
