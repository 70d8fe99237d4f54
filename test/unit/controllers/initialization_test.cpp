// What keeps a registered node from being initialized.
#include "controllers/nodeclaim/lifecycle/initialization.hpp"

#include "unit/controllers/with_services.hpp"

namespace millwright::controllers {
namespace {

using testing::at;
using testing::ClaimBuilder;
using testing::NodeBuilder;

class Initialization : public WithServices {
 protected:
  Initialization() { services_.options.solve.resource_claims = true; }

  struct SliceOf {
    std::string name;
    std::string driver;
    std::string node = "node";
    int generation = 1;
    int slices_in_pool = 1;
  };
  void publish(const SliceOf& of) {
    model::ResourceSlice slice;
    slice.meta.name = of.name;
    slice.driver = of.driver;
    slice.pool = of.node;
    slice.generation = of.generation;
    slice.slices_in_pool = of.slices_in_pool;
    slice.node_name = of.node;
    state_.upsert(std::make_shared<const model::ResourceSlice>(std::move(slice)));
  }

  // "reason: message" of what is in the way of a node whose pods asked for these drivers.
  std::string obstacle(const std::string& drivers, bool ready = true) {
    auto node = *NodeBuilder("node").build();
    node.conditions = {
        {.type = "Ready",
         .status = ready ? model::ConditionStatus::True : model::ConditionStatus::False}};
    const auto claim =
        ClaimBuilder("claim").annotation(model::kRequestedDriversAnnotation, drivers).build();
    std::vector<model::Condition> conditions;
    model::ConditionSet set(conditions, claim->meta, model::kNodeClaimDependents, at(0));
    if (!set_initialization_obstacle(set, services_, node, *claim)) {
      return "";
    }
    const auto* found = model::find_condition(conditions, model::kInitialized);
    EXPECT_EQ(found->status, model::ConditionStatus::Unknown);
    return found->reason + ": " + found->message;
  }
};

std::string missing(const std::string& driver) {
  return "DRADriverPoolsNotPublished: DRA driver " + driver +
         " has not published a complete pool of devices";
}

TEST_F(Initialization, WaitsForACompletePoolOfEachDriver) {
  EXPECT_EQ(obstacle(""), "");
  EXPECT_EQ(obstacle("gpu,nic"), missing("gpu"));
  EXPECT_EQ(obstacle("gpu,nic", false), "NodeNotReady: Node node is not Ready") << "comes first";
  publish({.name = "elsewhere", .driver = "gpu", .node = "other"});
  EXPECT_EQ(obstacle("gpu,nic"), missing("gpu"));
  publish({.name = "gpu-1", .driver = "gpu", .slices_in_pool = 2});
  EXPECT_EQ(obstacle("gpu,nic"), missing("gpu"));
  publish({.name = "gpu-2", .driver = "gpu", .slices_in_pool = 2});
  EXPECT_EQ(obstacle("gpu,nic"), missing("nic"));
  EXPECT_EQ(obstacle("gpu"), "");
  publish({.name = "nic", .driver = "nic"});
  EXPECT_EQ(obstacle("gpu,nic"), "");
  publish({.name = "nic-2", .driver = "nic", .generation = 2, .slices_in_pool = 2});
  EXPECT_EQ(obstacle("gpu,nic"), missing("nic")) << "the older generation counts no more";
}

TEST_F(Initialization, TakesSlicesThatTheNodeOwns) {
  model::ResourceSlice slice;
  slice.meta.name = "owned";
  slice.meta.owner_references = {{.api_version = "v1", .kind = "Node", .name = "node"}};
  slice.driver = "gpu";
  slice.slices_in_pool = 1;
  state_.upsert(std::make_shared<const model::ResourceSlice>(std::move(slice)));
  EXPECT_EQ(obstacle("gpu"), "");
}

TEST_F(Initialization, WaitsForNoDevicesWhereClaimsAreIgnored) {
  services_.options.solve.resource_claims = false;
  EXPECT_EQ(obstacle("gpu"), "");
}

}  // namespace
}  // namespace millwright::controllers
