// A node whose pods asked for devices counts as ready once their drivers have published them.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <string>

namespace millwright::test {
namespace {

class Devices : public LifecycleFixture {
 protected:
  // A NodeClaim as the planner makes them, and its node.
  void start_with_claim(bool planned_for) {
    app::EmbeddedOptions options;
    options.controllers.solve.resource_claims = planned_for;
    start(std::move(options));
    apply_class();
    apply(R"(
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: gpus
  annotations: {karpenter.sh/requested-dra-drivers: gpu.example.com}
spec:
  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
  requirements:
  - {key: kubernetes.io/os, operator: In, values: [linux]}
  - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  resources: {requests: {cpu: "1"}}
)");
    run_for(minutes(2));
    ASSERT_EQ(condition(model::kNodeClaimResource, "gpus", "Registered"), "True");
  }

  void publish(const std::string& name) {
    apply("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: " + name +
          "}\nspec:\n  driver: gpu.example.com\n  nodeName: " + nodes().front()->meta.name +
          "\n  pool: {name: all, generation: 1, resourceSliceCount: 2}\n"
          "  devices: [{name: " +
          name + "-0}]\n");
  }

  std::string initialized() { return condition(model::kNodeClaimResource, "gpus", "Initialized"); }
};

TEST_F(Devices, AreWaitedForUntilTheirPoolIsComplete) {
  start_with_claim(true);
  publish("first");
  run_for(minutes(1));
  EXPECT_EQ(initialized(), "Unknown");
  publish("second");
  EXPECT_TRUE(wait([&] { return initialized() == "True"; }, seconds(5)));
  ASSERT_NE(state().latest()->published_devices, nullptr);
  EXPECT_EQ(state().latest()->published_devices->size(), 1U);
}

TEST_F(Devices, AreNotWaitedForWhereClaimsAreIgnored) {
  start_with_claim(false);
  EXPECT_EQ(initialized(), "True");
  publish("first");
  run_for(minutes(1));
  EXPECT_TRUE(state().latest()->resource_slices.empty());
}

}  // namespace
}  // namespace millwright::test
