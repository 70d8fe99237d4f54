#include "millwright/app/convert.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace millwright::app {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string example(const std::string& file) {
  std::ifstream stream(std::string(SOURCE_ROOT) + "/manifests/examples/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Conversion converted(std::string_view yaml, controllers::LegacySettings settings = {}) {
  auto result = convert_manifests(yaml, std::move(settings));
  EXPECT_TRUE(result) << result.error().message;
  return result ? *std::move(result) : Conversion{};
}

std::vector<std::string> kinds(const Conversion& conversion) {
  const auto documents = model::parse_yaml(conversion.text);
  EXPECT_TRUE(documents) << conversion.text;
  std::vector<std::string> result;
  for (const auto& document : documents.value_or(std::vector<boost::json::value>{})) {
    result.emplace_back(document.at("kind").as_string());
  }
  return result;
}

constexpr std::string_view kTemplate = R"(
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: shared}
spec:
  subnetSelector: {team: "a,b"}
  securityGroupSelector: {aws-ids: sg-1}
  amiFamily: Bottlerocket
)";

TEST(Convert, TheUsersManifestsBecomeWhatCanBeApplied) {
  for (const char* file :
       {"aws-legacy-default.yaml", "aws-legacy-team.yaml", "aws-legacy-weight.yaml"}) {
    const auto result = converted(example(file));
    EXPECT_THAT(kinds(result), testing::ElementsAre("NodePool", "EC2NodeClass"));
    EXPECT_THAT(result.problems, IsEmpty());
    EXPECT_THAT(result.notes, Contains(HasSubstr("role KarpenterNodeRole is used")));
    EXPECT_THAT(result.text, HasSubstr("consolidateAfter: 30s"));
    EXPECT_THAT(result.text, HasSubstr("# AWSNodeTemplate "));
  }
  EXPECT_THAT(converted(example("aws-legacy-weight.yaml")).text, HasSubstr("weight: 2"));
}

TEST(Convert, TodaysObjectsAndOthersPassThrough) {
  const auto text =
      example("nodepool-v1-full.yaml") + "\n---\n" + example("aws-team-workload.yaml");
  const auto result = converted(text);
  EXPECT_THAT(kinds(result), testing::ElementsAre("NodePool", "Deployment"));
  EXPECT_EQ(model::parse_yaml(result.text).value(), model::parse_yaml(text).value());
  EXPECT_THAT(result.notes, IsEmpty());
  // A second time changes nothing.
  const auto once = converted(example("aws-legacy-team.yaml"));
  EXPECT_EQ(model::parse_yaml(converted(once.text).text).value(),
            model::parse_yaml(once.text).value());
}

TEST(Convert, ListsAreTakenApart) {
  const auto result = converted(
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: "
      "a}}\n"
      "- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n");
  EXPECT_THAT(kinds(result), testing::ElementsAre("Namespace", "Namespace"));
}

TEST(Convert, AKubeletConfigurationGetsAClassOfItsOwn) {
  const auto result = converted(std::string(kTemplate) + R"(---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: dense}
spec: {providerRef: {name: shared}, kubeletConfiguration: {maxPods: 20, containerRuntime: dockerd}}
)");
  EXPECT_THAT(kinds(result), testing::ElementsAre("EC2NodeClass", "EC2NodeClass", "NodePool"));
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_THAT(result.notes, Contains(HasSubstr("Provisioner dense: kubeletConfiguration."
                                               "containerRuntime")));
  EXPECT_THAT(result.notes, Contains(HasSubstr("consolidateAfter: Never")));
}

TEST(Convert, RemarksNameWhatPodsMustSay) {
  const auto result = converted(R"(
apiVersion: v1
kind: Pod
metadata: {name: old, annotations: {karpenter.sh/do-not-evict: "true"}}
spec: {nodeSelector: {karpenter.sh/provisioner-name: team}}
)");
  EXPECT_THAT(result.notes, Contains(HasSubstr("Pod old: it names the label")));
  EXPECT_THAT(result.notes,
              Contains(HasSubstr("which only nodes have that Millwright registered")));
  EXPECT_THAT(result.notes, Contains(HasSubstr("write karpenter.sh/do-not-disrupt")));
  EXPECT_THAT(result.text, HasSubstr("provisioner-name: team"));  // the pod is the person's
}

TEST(Convert, GlobalSettingsBecomeFlags) {
  const auto result = converted(std::string(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: karpenter-global-settings, namespace: karpenter}
data:
  aws.clusterName: demo
  aws.defaultInstanceProfile: nodes
  aws.enablePodENI: "true"
---)") + std::string(kTemplate));
  EXPECT_THAT(kinds(result), testing::ElementsAre("EC2NodeClass"));
  EXPECT_THAT(result.notes, Contains(HasSubstr("aws.clusterName = demo: now --cluster-name")));
  EXPECT_THAT(result.notes, Contains(HasSubstr("aws.enablePodENI = true: has no equivalent")));
  EXPECT_THAT(result.text, HasSubstr("instanceProfile: nodes"));
}

TEST(Convert, TheVersionDecidesOnAl2) {
  constexpr std::string_view kPlain =
      "apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: a}\n"
      "spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}\n";
  EXPECT_THAT(converted(kPlain).notes, Contains(HasSubstr("from Kubernetes 1.33 on")));
  EXPECT_THAT(converted(kPlain, {.kubernetes_minor = 33}).text, HasSubstr("al2023@latest"));
  EXPECT_THAT(converted(kPlain, {.kubernetes_minor = 32}).notes,
              Not(Contains(HasSubstr("amiFamily"))));
}

TEST(Convert, WhatIsWrongIsAProblemThatNamesObjectAndField) {
  struct Case {
    const char* yaml;
    const char* problem;
  };
  const Case cases[] = {
      {"{apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, metadata: {name: a}, "
       "spec: {subnetSelector: {a: b}, launchTemplate: mine}}",
       "AWSNodeTemplate a: spec.launchTemplate"},
      {"{apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, metadata: {name: a}, "
       "spec: {subnetSelector: 5, securityGroupSelector: {a: b}}}",
       "AWSNodeTemplate a: spec.subnetSelector"},
      {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, "
       "spec: {providerRef: {name: b}, requirements: [3]}}",
       "Provisioner a: spec.requirements"},
      {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, "
       "spec: {providerRef: {name: b}, kubeletConfiguration: {maxPods: 5}}}",
       "AWSNodeTemplate b does not exist"}};
  for (const auto& each : cases) {
    const auto result = converted(each.yaml);
    EXPECT_THAT(result.problems, Contains(HasSubstr(each.problem))) << each.yaml;
    EXPECT_EQ(result.text, "") << each.yaml;
  }
  EXPECT_FALSE(convert_manifests("a: [", {}));
  EXPECT_TRUE(convert_manifests("[1, 2]\n---\n3\n", {}));  // no objects, and no harm
}

constexpr std::string_view kOfficialAlibaba = R"(
apiVersion: karpenter.alibabacloud.com/v1alpha1
kind: ECSNodeClass
metadata: {name: web}
spec:
  clusterID: c1
  vSwitchSelectorTerms: [{tags: {karpenter.sh/discovery: c1}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: c1}}]
  imageSelectorTerms: [{id: m-1}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: web}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.alibabacloud.com, kind: ECSNodeClass, name: web}
      requirements:
      - {key: karpenter.alibabacloud.com/instance-cpu, operator: In, values: ["4"]}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {nodeSelector: {karpenter.alibabacloud.com/instance-cpu: "4"}}
)";

TEST(Convert, AlibabaCloudsOwnKindsBecomeThoseThatAreServedAndBack) {
  const auto served = converted(kOfficialAlibaba);
  EXPECT_THAT(kinds(served), testing::ElementsAre("ECSNodeClass", "NodePool", "Pod"));
  EXPECT_THAT(served.problems, IsEmpty());
  EXPECT_THAT(served.notes,
              testing::ElementsAre(HasSubstr("spec.clusterID is the controller's --cluster-id"),
                                   HasSubstr("Pod p: it names labels of Alibaba Cloud's own")));
  EXPECT_THAT(served.text, HasSubstr("apiVersion: karpenter.k8s.alibabacloud/v1alpha1"));
  EXPECT_THAT(served.text, HasSubstr("group: karpenter.k8s.alibabacloud\n"));
  EXPECT_THAT(served.text, HasSubstr("key: karpenter.k8s.alibabacloud/instance-cpu"));

  const auto back = convert_manifests(served.text, {}, cloud::EcsGroup::Official);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_THAT(back->problems, IsEmpty());
  EXPECT_THAT(back->text, HasSubstr("apiVersion: karpenter.alibabacloud.com/v1alpha1"));
  EXPECT_THAT(back->text, HasSubstr("group: karpenter.alibabacloud.com\n"));
  EXPECT_THAT(back->text, HasSubstr("key: karpenter.alibabacloud.com/instance-cpu"));
}

TEST(Convert, AClassThatTheOtherGroupCannotSayIsNotPrinted) {
  const auto result = converted(
      "{apiVersion: karpenter.alibabacloud.com/v1alpha1, kind: ECSNodeClass, metadata: {name: a}, "
      "spec: {launchTemplateID: lt-1}}");
  EXPECT_THAT(result.problems,
              testing::ElementsAre(HasSubstr("ECSNodeClass a: spec.launchTemplateID is not")));
  EXPECT_EQ(result.text, "");
}

}  // namespace
}  // namespace millwright::app
