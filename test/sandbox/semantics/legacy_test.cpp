// Legacy kinds, translated, in a whole cluster in virtual time.
#include "sandbox/semantics/semantics_fixture.hpp"

namespace millwright::test {
namespace {

class LegacyObjects : public Semantics {
 protected:
  explicit LegacyObjects(const std::string& kubernetes = "v1.32.4")
      : Semantics([&kubernetes] {
          auto options = gated();
          options.profiles = {cloud::Profile::Kwok, cloud::Profile::Aws};
          options.world.api.git_version = kubernetes;
          return options;
        }()) {}
  std::string alias() {
    const auto node_class = object(model::kEc2NodeClassResource, "default");
    const auto* terms = model::find_path(node_class, "spec.amiSelectorTerms");
    return terms == nullptr ? "" : std::string(model::text_at(terms->at(0), "alias"));
  }
};

class LegacyObjectsOnEks133 : public LegacyObjects {
 protected:
  LegacyObjectsOnEks133() : LegacyObjects("v1.33.5-eks-113cf36") {}
};

constexpr const char* kLegacy = R"(
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec:
  subnetSelector: {karpenter.sh/discovery: cluster}
  securityGroupSelector: {karpenter.sh/discovery: cluster}
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: default}
spec:
  providerRef: {name: default}
)";

TEST_F(LegacyObjects, PodsRunOnNodesThatHaveTheLabelTheySelectedBefore) {
  create(kLegacy);
  create(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {karpenter.sh/provisioner-name: default}
      containers:
        - {name: web, image: web, resources: {requests: {cpu: "1"}}}
)");
  ASSERT_TRUE(soon([&] { return running("web") == 2; }));
  for (const auto& record : nodes()) {
    EXPECT_EQ(record->node->meta.label("karpenter.sh/provisioner-name"), "default");
  }
}

TEST_F(LegacyObjects, AreNotTranslatedBeforeTheirTemplatesAreListed) {
  api().set_faults({.broken = {"awsnodetemplates"}});
  create(kLegacy);
  EXPECT_FALSE(
      soon([&] { return object(model::kNodePoolResource, "default").is_object(); }, minutes(1)));
  api().set_faults({});
  EXPECT_TRUE(soon([&] { return object(model::kNodePoolResource, "default").is_object(); }));
}

TEST_F(LegacyObjects, TemplatesWithoutAFamilyGetAl2AsBefore) {
  create(kLegacy);
  EXPECT_TRUE(soon([&] { return alias() == "al2@latest"; }));
}

TEST_F(LegacyObjectsOnEks133, TemplatesWithoutAFamilyGetAl2023BecauseAl2HasNoImagesThere) {
  create(kLegacy);
  EXPECT_TRUE(soon([&] { return alias() == "al2023@latest"; })) << alias();
}

TEST_F(LegacyObjects, AreTranslatedAgainWhenTheirNodePoolIsDeletedByHand) {
  create(kLegacy);
  const auto exist = [&] {
    return object(model::kNodePoolResource, "default").is_object() &&
           object(model::kEc2NodeClassResource, "default").is_object();
  };
  ASSERT_TRUE(soon(exist));
  cluster_.loop.run_for(minutes(1));
  const model::ObjectKey key{.namespace_ = {}, .name = "default"};
  ASSERT_TRUE(api().remove(model::kNodePoolResource, key));
  ASSERT_TRUE(api().remove(model::kEc2NodeClassResource, key));
  EXPECT_TRUE(soon([&] { return !exist(); }));
  EXPECT_TRUE(soon(exist, minutes(1)));
}

}  // namespace
}  // namespace millwright::test
