// ECSNodeClasses and NodePools between Alibaba Cloud's two groups, field by field.
#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/cloud/alibaba_groups.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

json::value yaml(const std::string& text) {
  return model::parse_yaml(text).value().front();
}

json::value class_with(EcsGroup group, const std::string& spec) {
  const std::string name =
      group == EcsGroup::Served ? "karpenter.k8s.alibabacloud" : "karpenter.alibabacloud.com";
  return yaml("{apiVersion: " + name + "/v1alpha1, kind: ECSNodeClass, metadata: {name: web}, " +
              "spec: {" + spec + "}}");
}
EcsTranslation served(const std::string& spec) {
  return translate_ecs_class(class_with(EcsGroup::Official, spec), EcsGroup::Served);
}
EcsTranslation official(const std::string& spec) {
  return translate_ecs_class(class_with(EcsGroup::Served, spec), EcsGroup::Official);
}

struct Fields {
  std::string from;
  std::string to;
};

// Each of the fields with those that every spec has, or gets.
void expect_specs(EcsTranslation (*translate)(const std::string&), const Fields& always,
                  const std::vector<Fields>& each) {
  for (const auto& [from, to] : each) {
    const auto result = translate(always.from + from);
    EXPECT_EQ(result.object.at("spec"), yaml("{" + always.to + to + "}")) << from;
    EXPECT_THAT(result.problems, IsEmpty()) << from;
    EXPECT_THAT(result.notes, IsEmpty()) << from;
  }
}

TEST(OfficialClass, BecomesTheClassThatIsServed) {
  expect_specs(
      served, {"", "systemDisk: {categories: [cloud_essd], volumeSize: 40Gi}, "},
      {{"", ""},
       {"vSwitchSelectorTerms: [{id: vsw-1}, {tags: {a: b}, zoneID: z}]",
        "vSwitchSelectorTerms: [{id: vsw-1}, {tags: {a: b}, zoneID: z}]"},
       {"securityGroupSelectorTerms: [{name: n}]", "securityGroupSelectorTerms: [{name: n}]"},
       {"imageSelectorTerms: [{id: m-1}, {name: n, imageOwnerAlias: self, tags: {a: b}}]",
        "imageSelectorTerms: [{id: m-1}, {name: n, owner: self, tags: {a: b}}]"},
       {"imageSelectorTerms: [{imageFamily: f, imageOwnerID: '12'}, {id: m-1, imageFamily: '', "
        "imageOwnerID: ''}]",
        "imageSelectorTerms: [{family: f, ownerID: '12'}, {id: m-1}]"},
       {"kubelet: {maxPods: 20}", "kubeletConfiguration: {maxPods: 20}"},
       {"dataDisks: [{category: cloud_ssd, size: 120, device: /dev/xvdb, snapshotID: s, "
        "deleteWithInstance: true}]",
        "dataDisks: [{category: cloud_ssd, volumeSize: 120Gi, device: /dev/xvdb, snapshotID: s}]"},
       {"spotStrategy: SpotWithPriceLimit, spotPriceLimit: 0.35",
        "spotStrategy: SpotWithPriceLimit, spotPriceLimit: '0.35'"},
       {"spotStrategy: SpotWithPriceLimit, spotPriceLimit: 2",
        "spotStrategy: SpotWithPriceLimit, spotPriceLimit: '2'"},
       {"tags: {team: a}, role: r, userData: u, metadataOptions: {httpTokens: required}",
        "tags: {team: a}, role: r, userData: u, metadataOptions: {httpTokens: required}"},
       {"clusterID: ''", ""}});
  EXPECT_EQ(served("systemDisk: {category: cloud_ssd, size: 100, encrypted: true, kmsKeyID: k}")
                .object.at("spec")
                .at("systemDisk"),
            yaml("{categories: [cloud_ssd], volumeSize: 100Gi, encrypted: true, kmsKeyID: k}"));
}

TEST(OfficialClass, IsReadByTheAdapterAsItsOwn) {
  model::NodeClass node_class;
  node_class.spec = served(
                        "kubelet: {maxPods: 20}, systemDisk: {size: 60, performanceLevel: PL1}, "
                        "spotStrategy: SpotWithPriceLimit, spotPriceLimit: 1.5")
                        .object.at("spec");
  const auto spec = alibaba::read_spec(node_class);
  EXPECT_EQ(spec.kubelet.max_pods, 20);
  EXPECT_EQ(spec.system_disk.gib, 60);
  EXPECT_THAT(spec.system_disk.categories, ElementsAre("cloud_essd"));
  EXPECT_EQ(spec.system_disk.performance_level, "PL1");
  EXPECT_EQ(spec.spot_price_limit, "1.5");
}

TEST(OfficialClass, WhatWouldMakeOtherNodesIsAProblem) {
  for (const auto& [spec, problem] : std::vector<std::pair<std::string, std::string>>{
           {"imageSelectorTerms: [{id: m-1}, {name: n, imageOwnerID: me}]",
            "spec.imageSelectorTerms[1].imageOwnerID must be the number of an account, such as "
            "\"1234567890123456\""},
           {"imageSelectorTerms: [{name: n, imageOwnerID: 12}]",
            "spec.imageSelectorTerms[0].imageOwnerID must be the number of an account, such as "
            "\"1234567890123456\""},
           {"imageSelectorTerms: 3", "spec.imageSelectorTerms must be a list"},
           {"systemDisk: 3", "spec.systemDisk must be an object"},
           {"dataDisks: [{category: cloud_ssd}]", "spec.dataDisks[0].size must be a number of GiB"},
           {"dataDisks: [{category: cloud_ssd, size: 20, kmsKeyID: k}]",
            "spec.dataDisks[0].kmsKeyID has no equivalent: the disk would be encrypted with the "
            "account's default key"},
           {"dataDisks: [{category: cloud_ssd, size: 20, deleteWithInstance: false}]",
            "spec.dataDisks[0].deleteWithInstance has no equivalent: the disk would be deleted "
            "with its instance"},
           {"spotPriceLimit: dear", "spec.spotPriceLimit must be a number"},
           {"launchTemplateID: lt-1",
            "spec.launchTemplateID is not supported: a group of instances with a template would "
            "not run the script that joins nodes; write the template's selectors, disks, role "
            "and userData into the class instead"}}) {
    EXPECT_THAT(served(spec).problems, ElementsAre(problem)) << spec;
  }
}

TEST(OfficialClass, WhatIsLeftOutIsTold) {
  EXPECT_THAT(served("clusterID: c1, spotPriceLimit: 1, colour: red").notes,
              ElementsAre("spec.spotPriceLimit counts only with spotStrategy SpotWithPriceLimit, "
                          "and is left out",
                          "spec.clusterID is the controller's --cluster-id",
                          "spec.colour is no field of the kind and is left out"));
}

TEST(OfficialClass, KeepsItsNameAndLabelsAndNothingThatProgramsWrote) {
  const auto result = translate_ecs_class(
      yaml("{apiVersion: karpenter.alibabacloud.com/v1alpha1, kind: ECSNodeClass, metadata: {name: "
           "web, uid: u, finalizers: [f], labels: {team: a}, annotations: {note: mine, "
           "karpenter.sh/ecsnodeclass-hash: '1', "
           "kubectl.kubernetes.io/last-applied-configuration: '{}'}}, status: {ready: true}}"),
      EcsGroup::Served);
  EXPECT_EQ(result.object,
            yaml("{apiVersion: karpenter.k8s.alibabacloud/v1alpha1, kind: ECSNodeClass, metadata: "
                 "{name: web, labels: {team: a}, annotations: {note: mine}}, spec: {systemDisk: "
                 "{categories: [cloud_essd], volumeSize: 40Gi}}}"));
}

TEST(OfficialClass, ComesOfTheClassThatIsServed) {
  expect_specs(
      official,
      {"systemDisk: {categories: [cloud_essd]}, ",
       "systemDisk: {category: cloud_essd, size: 20}, "},
      {{"imageSelectorTerms: [{name: n, owner: self}, {family: f, ownerID: '12'}]",
        "imageSelectorTerms: [{name: n, imageOwnerAlias: self}, {imageFamily: f, imageOwnerID: "
        "'12'}]"},
       {"kubeletConfiguration: {maxPods: 20}", "kubelet: {maxPods: 20}"},
       {"dataDisks: [{volumeSize: 1Ti, device: /dev/xvdb}, {category: cloud_ssd, "
        "performanceLevel: PL1}]",
        "dataDisks: [{category: cloud_essd, size: 1024, device: /dev/xvdb}, {category: cloud_ssd, "
        "size: 20}]"},
       {"spotStrategy: SpotWithPriceLimit, spotPriceLimit: '0.35'",
        "spotStrategy: SpotWithPriceLimit, spotPriceLimit: 0.35"},
       {"formatDataDisk: false", ""}});
}

TEST(OfficialClass, CannotSayAllThatTheOtherSays) {
  for (const auto& [spec, problem] : std::vector<std::pair<std::string, std::string>>{
           {"imageSelectorTerms: [{alias: ContainerOS}]",
            "spec.imageSelectorTerms[0].alias has no equivalent; select the images by id, name, "
            "tags, imageFamily or imageOwnerAlias"},
           {"systemDisk: {categories: [cloud_auto]}",
            "spec.systemDisk.categories has none of cloud_efficiency, cloud_ssd and cloud_essd; "
            "add one of them"},
           {"systemDisk: {volumeSize: 1Ti}",
            "spec.systemDisk.volumeSize must be between 20Gi and 500Gi there"},
           {"dataDisks: [{category: cloud_auto}]",
            "spec.dataDisks[0].category must be cloud_efficiency, cloud_ssd or cloud_essd "
            "there"}}) {
    EXPECT_THAT(official(spec).problems, ElementsAre(problem)) << spec;
  }
  EXPECT_THAT(official("password: secret-1234, keyPairName: k").notes,
              ElementsAre("spec.systemDisk.categories are not given: cloud_essd is used alone",
                          "spec.password has no equivalent", "spec.keyPairName has no equivalent"));
}

TEST(OfficialClass, TakesOfSeveralDiskCategoriesTheFirstThatItHas) {
  const auto result = official(
      "systemDisk: {categories: [cloud_auto, cloud_ssd, cloud_essd], size: 60, performanceLevel: "
      "PL0}, dataDiskCategories: [cloud_auto, cloud_efficiency], dataDisks: [{}]");
  EXPECT_EQ(result.object.at("spec"), yaml("{systemDisk: {category: cloud_ssd, size: 60}, "
                                           "dataDisks: [{category: cloud_efficiency, size: 20}]}"));
}

}  // namespace
}  // namespace millwright::cloud
