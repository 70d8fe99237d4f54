// NodeOverlays (feature gate NodeOverlay) at work in a whole cluster in virtual time.
#include "sandbox/semantics/semantics_fixture.hpp"

namespace millwright::test {
namespace {

TEST_F(Semantics, AnOverlayDecidesWhatIsBought) {
  create(pool("default", ""));
  create(R"(
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: contract}
spec:
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m-64x-amd64-linux]}]
  price: "0.0001"
)");
  ASSERT_TRUE(soon(
      [&] { return condition(model::kNodeOverlayResource, "contract", "Ready") == "True Ready"; }));
  create(deployment("web", 1, "cpu: 100m"));
  ASSERT_TRUE(soon([&] { return running("web") == 1 && nodes().size() == 1; }));
  const auto& claim = *nodes().front()->claim;
  EXPECT_EQ(claim.meta.annotation("karpenter.sh/price-overlay-applied"), "true");
  const auto offered =
      std::find_if(claim.requirements.begin(), claim.requirements.end(),
                   [](const auto& each) { return each.key == "node.kubernetes.io/instance-type"; });
  ASSERT_NE(offered, claim.requirements.end());
  EXPECT_THAT(offered->values, testing::Contains("m-64x-amd64-linux"));
}

TEST_F(Semantics, ConflictingOverlaysAreToldSo) {
  create(pool("default", ""));
  for (const std::string name : {"a", "b"}) {
    create("apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: " + name +
           "}\nspec: {requirements: [], priceAdjustment: \"-10%\"}\n");
  }
  ASSERT_TRUE(soon([&] {
    return condition(model::kNodeOverlayResource, "a", "ValidationSucceeded") == "False Conflict";
  }));
  EXPECT_TRUE(
      soon([&] { return condition(model::kNodeOverlayResource, "b", "Ready") == "True Ready"; }));
  edit(model::kNodeOverlayResource, "a",
       [](json::value& object) { object.at("spec").as_object()["weight"] = 5; });
  EXPECT_TRUE(
      soon([&] { return condition(model::kNodeOverlayResource, "a", "Ready") == "True Ready"; }));
}

TEST_F(Semantics, AResourceOfAnOverlayIsBoughtOnceAndCountedFromTheLaunchOn) {
  create(pool("default", ""));
  create(R"(
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: devices}
spec:
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}]
  capacity: {example.com/device: 4}
)");
  create(deployment("web", 2, "cpu: 100m, example.com/device: 2"));
  ASSERT_TRUE(soon([&] { return claims() == 1; }));
  ASSERT_TRUE(soon([&] {
    const auto& records = snapshot()->nodes;
    return !records.empty() && model::is_true(records.front()->claim->conditions, "Launched");
  }));
  const auto& record = *snapshot()->nodes.front();
  EXPECT_EQ(model::get(record.claim->allocatable, "example.com/device"),
            model::Quantity::from_units(4));
  EXPECT_EQ(record.claim->meta.annotation("karpenter.sh/capacity-overlay-applied"), "true");
  cluster_.loop.run_for(minutes(2));
  EXPECT_EQ(claims(), 1U);
}

}  // namespace
}  // namespace millwright::test
