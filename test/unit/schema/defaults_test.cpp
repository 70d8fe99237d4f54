#include "admission_cases.hpp"
#include "millwright/schema/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::schema {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Kind& kind_with_defaults(std::string_view api_version, std::string_view name) {
  return *find_kind(api_version, name);
}

json::value yaml(std::string_view text) {
  return model::parse_yaml(text)->at(0);
}

struct DefaultCase {
  std::string name;
  std::string before;
  std::string after;
};

TEST(ApplyDefaults, FillsWhatTheReferencesSay) {
  const std::vector<DefaultCase> cases{
      {"a bare NodePool",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {template: {spec: {}}}}",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {template: {spec: {expireAfter: "
       "720h}}, "
       "disruption: {consolidateAfter: 0s, consolidationPolicy: WhenEmptyOrUnderutilized, "
       "budgets: [{nodes: 10%}]}}}"},
      {"a budget without nodes, and given values stay",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {disruption: {consolidateAfter: Never, "
       "consolidationPolicy: WhenEmpty, budgets: [{reasons: [Empty]}]}}}",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {disruption: {consolidateAfter: Never, "
       "consolidationPolicy: WhenEmpty, budgets: [{reasons: [Empty], nodes: 10%}]}}}"},
      {"an empty list of budgets stays empty",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {disruption: {budgets: []}}}",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {disruption: {budgets: [], "
       "consolidateAfter: 0s, consolidationPolicy: WhenEmptyOrUnderutilized}}}"},
      {"nulls become defaults or go",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {weight: null, disruption: null, "
       "template: {metadata: {labels: {a: null, b: c}}, spec: {expireAfter: null}}}}",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {disruption: {consolidateAfter: 0s, "
       "consolidationPolicy: WhenEmptyOrUnderutilized, budgets: [{nodes: 10%}]}, "
       "template: {metadata: {labels: {b: c}}, spec: {expireAfter: 720h}}}}"},
      {"a NodePool's status", "{apiVersion: karpenter.sh/v1, kind: NodePool, status: {}}",
       "{apiVersion: karpenter.sh/v1, kind: NodePool, status: {nodes: 0}}"},
      {"a NodeClaim", "{apiVersion: karpenter.sh/v1, kind: NodeClaim, spec: {}}",
       "{apiVersion: karpenter.sh/v1, kind: NodeClaim, spec: {expireAfter: 720h}}"},
      {"a KWOKNodeClass is ready from the start",
       "{apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass}",
       "{apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, status: {conditions: [{type: "
       "Ready, status: 'True', reason: Ready, message: '', lastTransitionTime: "
       "'2024-01-01T01:01:01Z'}]}}"},
      {"an EC2NodeClass", "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {}}",
       "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {metadataOptions: "
       "{httpEndpoint: enabled, httpProtocolIPv6: disabled, httpPutResponseHopLimit: 1, "
       "httpTokens: required}}}"},
      {"some metadata options",
       "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {metadataOptions: "
       "{httpPutResponseHopLimit: 2}}}",
       "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {metadataOptions: "
       "{httpEndpoint: enabled, httpProtocolIPv6: disabled, httpPutResponseHopLimit: 2, "
       "httpTokens: required}}}"},
      {"an ECSNodeClass with disks",
       "{apiVersion: karpenter.k8s.alibabacloud/v1alpha1, kind: ECSNodeClass, spec: {systemDisk: "
       "{}, dataDisks: [{}]}}",
       "{apiVersion: karpenter.k8s.alibabacloud/v1alpha1, kind: ECSNodeClass, spec: {systemDisk: "
       "{categories: [cloud, cloud_efficiency, cloud_ssd, cloud_essd, cloud_auto, "
       "cloud_essd_entry], performanceLevel: PL0}, dataDisks: [{volumeSize: 20Gi}], "
       "vSwitchSelectionPolicy: cheapest, formatDataDisk: false, passwordInherit: false}}"},
      {"an ECSNodeClass of Alibaba's own provider with disks",
       "{apiVersion: karpenter.alibabacloud.com/v1alpha1, kind: ECSNodeClass, spec: {systemDisk: "
       "{}, dataDisks: [{category: cloud_essd, size: 100}], metadataOptions: {}}}",
       "{apiVersion: karpenter.alibabacloud.com/v1alpha1, kind: ECSNodeClass, spec: {systemDisk: "
       "{category: cloud_essd, size: 40, performanceLevel: PL0}, dataDisks: [{category: "
       "cloud_essd, size: 100, deleteWithInstance: true}], metadataOptions: {httpEndpoint: "
       "enabled, httpTokens: optional, httpPutResponseHopLimit: 1}}}"},
      {"a CCENodeClass with a password",
       "{apiVersion: karpenter.k8s.huawei/v1alpha1, kind: CCENodeClass, spec: "
       "{runtimeConfiguration: {}, login: {userPassword: {password: x}}}}",
       "{apiVersion: karpenter.k8s.huawei/v1alpha1, kind: CCENodeClass, spec: "
       "{runtimeConfiguration: {type: containerd}, login: {userPassword: {password: x, username: "
       "root}}}}"},
      {"a Provisioner has none", "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, spec: {}}",
       "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, spec: {}}"},
  };
  for (const DefaultCase& test_case : cases) {
    const json::value before = yaml(test_case.before);
    json::value object = before;
    const Kind& described = kind_with_defaults(test::text_or(object.as_object(), "apiVersion"),
                                               test::text_or(object.as_object(), "kind"));
    const bool changed = apply_defaults(described, object);
    EXPECT_EQ(object, yaml(test_case.after)) << test_case.name << "\n" << json::serialize(object);
    EXPECT_EQ(changed, object != before) << test_case.name;
    EXPECT_FALSE(apply_defaults(described, object)) << test_case.name << ": second time";
  }
}

TEST(Prune, DropsWhatTheSchemaDoesNotKnowAndSaysSo) {
  json::value pool = yaml(
      "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a, anything: kept}, extra: "
      "1, "
      "spec: {wieght: 5, weight: 6, template: {spec: {requirements: [{key: a, oprator: In}], "
      "nodeClassRef: {apiVersion: v1, name: a}}, metadata: {labels: {any: key}}}}}");
  EXPECT_THAT(prune(kind_with_defaults("karpenter.sh/v1", "NodePool"), pool),
              ElementsAre("extra", "spec.wieght", "spec.template.spec.requirements[0].oprator",
                          "spec.template.spec.nodeClassRef.apiVersion"));
  EXPECT_EQ(pool,
            yaml("{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a, anything: "
                 "kept}, spec: {weight: 6, template: {spec: {requirements: [{key: a}], "
                 "nodeClassRef: {name: a}}, metadata: {labels: {any: key}}}}}"));
}

TEST(Prune, KeepsOpenBlocksWhole) {
  json::value node_class =
      yaml("{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {kubelet: {x: {y: 1}}}}");
  EXPECT_THAT(prune(kind_with_defaults("karpenter.k8s.aws/v1", "EC2NodeClass"), node_class),
              IsEmpty());
  json::value provisioner =
      yaml("{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, spec: {provider: {x: [1]}}}");
  EXPECT_THAT(prune(kind_with_defaults("karpenter.sh/v1alpha5", "Provisioner"), provisioner),
              IsEmpty());
}

TEST(Prune, LeavesWhatIsNoObjectAlone) {
  json::value text = "text";
  EXPECT_THAT(prune(*all_kinds()[0], text), IsEmpty());
  EXPECT_EQ(text, "text");
}

}  // namespace
}  // namespace millwright::schema
