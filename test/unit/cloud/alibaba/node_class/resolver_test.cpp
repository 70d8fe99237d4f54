#include "cloud/alibaba/node_class/resolver.hpp"

#include "cloud/alibaba/node_class/node_class_hash.hpp"
#include "cloud/common/node_class/static_drift.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cloud/alibaba/fakes/fake_cloud.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::alibaba {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::shared_ptr<model::NodeClass> node_class_of(const std::string& spec) {
  auto made = std::make_shared<model::NodeClass>();
  made->meta.name = "defaultnodeclass";
  made->spec = model::parse_json(spec).value();
  return made;
}

// As the example manifest has it.
constexpr const char* kSpec = R"({
  "vSwitchSelectorTerms":[{"tags":{"karpenter.sh/discovery":"demo"}}],
  "securityGroupSelectorTerms":[{"tags":{"karpenter.sh/discovery":"demo"}}],
  "imageSelectorTerms":[{"alias":"ContainerOS"}]})";

class AlibabaResolverTest : public FakeCloudTest {
 protected:
  AlibabaResolverTest() : resolver(api) {
    on("DescribeVSwitches", {R"({"VSwitches":{"VSwitch":[
      {"VSwitchId":"vsw-2","ZoneId":"cn-hangzhou-i","AvailableIpAddressCount":5},
      {"VSwitchId":"vsw-1","ZoneId":"cn-hangzhou-h","AvailableIpAddressCount":250}]},"TotalCount":2})"});
    on("DescribeSecurityGroups", {R"({"SecurityGroups":{"SecurityGroup":[
      {"SecurityGroupId":"sg-1","SecurityGroupName":"nodes"}]}})"});
    on("DescribeKubernetesVersionMetadata", {R"([{"images":[
      {"image_id":"lifsea_3_x64_20G_alibase_20240101.vhd","image_name":"ContainerOS 3.1","architecture":"x86_64"},
      {"image_id":"lifsea_3_x64_20G_alibase_20240601.vhd","image_name":"ContainerOS 3.2","architecture":"x86_64"},
      {"image_id":"lifsea_3_arm64_20G_alibase_20240601.vhd","image_name":"ContainerOS 3.2","architecture":"arm64"},
      {"image_id":"aliyun_3_x64_20G_alibase_20240528.vhd","image_name":"Linux","architecture":"x86_64"},
      {"image_id":"aliyun_3_arm64_20G_alibase_20240528.vhd","image_name":"Linux","architecture":"arm64"}]}])"});
  }
  ApiResult<NodeClassState> resolve(const std::string& spec) {
    return wait(loop, resolver.resolve(node_class_of(spec), "1.31.1-aliyun.1"));
  }

  Resolver resolver;
};

TEST_F(AlibabaResolverTest, TheExampleClassIsReadyWithItsStatus) {
  const auto state = resolve(kSpec).value();
  EXPECT_TRUE(state.ready) << state.message;
  EXPECT_EQ(
      boost::json::serialize(state.status),
      R"({"vSwitches":[{"id":"vsw-1","zoneID":"cn-hangzhou-h"},)"
      R"({"id":"vsw-2","zoneID":"cn-hangzhou-i"}],)"
      R"("securityGroups":[{"id":"sg-1","name":"nodes"}],)"
      R"("images":[{"id":"lifsea_3_x64_20G_alibase_20240601.vhd","name":"ContainerOS 3.2",)"
      R"("requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]},)"
      R"({"id":"lifsea_3_x64_20G_alibase_20240101.vhd","name":"ContainerOS 3.1",)"
      R"("requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]}]})");
  EXPECT_EQ(resolver.free_addresses("vsw-1"), 250);
  EXPECT_EQ(parameter(asked("DescribeKubernetesVersionMetadata")[0], "KubernetesVersion"),
            "1.31.1-aliyun.1");
}

TEST_F(AlibabaResolverTest, WhatSelectsNothingIsAConditionOfItsOwn) {
  on("DescribeSecurityGroups", {R"({"SecurityGroups":{"SecurityGroup":[]}})"});
  const auto state = resolve(kSpec).value();
  EXPECT_FALSE(state.ready);
  EXPECT_EQ(state.reason, "SecurityGroupsNotFound");
  EXPECT_THAT(state.message, HasSubstr("spec.securityGroupSelectorTerms selects nothing"));
  ASSERT_EQ(state.conditions.size(), 3U);
  EXPECT_EQ(state.conditions[0].type, "VSwitchesReady");
  EXPECT_TRUE(state.conditions[0].good);
  EXPECT_EQ(state.conditions[1].type, "SecurityGroupsReady");
  EXPECT_EQ(state.conditions[2].type, "ImagesReady");
}

TEST_F(AlibabaResolverTest, AFailedCallIsAnErrorAndNoJudgement) {
  refuse("DescribeVSwitches", "Forbidden.RAM", 403);
  const auto state = resolve(kSpec);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().kind, base::ErrorKind::Denied);
}

TEST_F(AlibabaResolverTest, WhatWasFoundServesForAWhile) {
  EXPECT_TRUE(resolve(kSpec));
  EXPECT_TRUE(resolve(kSpec));
  EXPECT_EQ(http.requests.size(), 3U);
  loop.run_for(61s);
  EXPECT_TRUE(resolve(kSpec));
  EXPECT_EQ(asked("DescribeVSwitches").size(), 2U);
  EXPECT_EQ(asked("DescribeSecurityGroups").size(), 1U);
}

TEST_F(AlibabaResolverTest, TermsWithIdsNamesAndZonesAreAskedFor) {
  on("DescribeImages", {R"({"Images":{"Image":[{"ImageId":"m-1","ImageName":"mine",
    "Architecture":"arm64","CreationTime":"2026-01-01T00:00:00Z"}]},"TotalCount":1})"});
  const auto state = resolve(R"({
    "vSwitchSelectorTerms":[{"tags":{"a":"*"},"zoneID":"cn-hangzhou-i"}],
    "securityGroupSelectorTerms":[{"id":"sg-1"},{"name":"nodes"},{}],
    "imageSelectorTerms":[{"id":"m-1"},{}]})")
                         .value();
  EXPECT_TRUE(state.ready) << state.message;
  EXPECT_EQ(state.status.at("vSwitches").as_array().size(), 1U);
  EXPECT_EQ(state.status.at("images").at(0).at("requirements").at(0).at("values").at(0), "arm64");
  EXPECT_EQ(parameter(asked("DescribeSecurityGroups")[0], "SecurityGroupIds"), "[\"sg-1\"]");
  EXPECT_EQ(parameter(asked("DescribeSecurityGroups")[1], "SecurityGroupName"), "nodes");
  EXPECT_EQ(asked("DescribeSecurityGroups").size(), 2U);
  EXPECT_EQ(asked("DescribeImages").size(), 1U);
}

TEST_F(AlibabaResolverTest, ImagesOfAFamilyAreThoseOfTheAccountThatIsNamed) {
  on("DescribeImages", {R"({"Images":{"Image":[
    {"ImageId":"m-1","ImageName":"a","Architecture":"x86_64","ImageOwnerId":1234567890123456,
     "CreationTime":"2026-01-01T00:00:00Z"},
    {"ImageId":"m-2","ImageName":"b","Architecture":"x86_64","ImageOwnerId":"1234567890123456",
     "CreationTime":"2026-02-01T00:00:00Z"},
    {"ImageId":"m-3","ImageName":"c","Architecture":"x86_64","ImageOwnerId":7,
     "CreationTime":"2026-03-01T00:00:00Z"},
    {"ImageId":"m-4","ImageName":"d","Architecture":"x86_64",
     "CreationTime":"2026-04-01T00:00:00Z"}]},"TotalCount":4})"});
  const auto state = resolve(R"({"vSwitchSelectorTerms":[{"id":"vsw-1"}],
    "securityGroupSelectorTerms":[{"id":"sg-1"}],
    "imageSelectorTerms":[{"family":"web","ownerID":"1234567890123456","owner":"others"}]})")
                         .value();
  const auto& images = state.status.at("images").as_array();
  ASSERT_EQ(images.size(), 2U);
  EXPECT_EQ(images[0].at("id"), "m-2") << "the newest comes first";
  EXPECT_EQ(images[1].at("id"), "m-1");
  const auto request = asked("DescribeImages").at(0);
  EXPECT_EQ(parameter(request, "ImageFamily"), "web");
  EXPECT_EQ(parameter(request, "ImageOwnerId"), "1234567890123456");
  EXPECT_EQ(parameter(request, "ImageOwnerAlias"), "others");
}

TEST_F(AlibabaResolverTest, AnAccountThatIsNoWholeNumberIsAnError) {
  for (const auto* owner : {"1.5", "true", "[]", "1e30"}) {
    on("DescribeImages", {R"({"Images":{"Image":[{"ImageId":"m-1","ImageOwnerId":)" +
                          std::string(owner) + R"(}]},"TotalCount":1})"});
    const auto state = resolve(R"({"vSwitchSelectorTerms":[{"id":"vsw-1"}],
      "securityGroupSelectorTerms":[{"id":"sg-1"}],"imageSelectorTerms":[{"family":"web"}]})");
    ASSERT_FALSE(state) << owner;
    EXPECT_THAT(state.error().message, HasSubstr("ImageOwnerId")) << owner;
  }
}

TEST(AlibabaImages, AnAliasMayNameAVersion) {
  const std::vector<Image> all{{"aliyun_3_x64_20G_alibase_20240528.vhd", "L", "amd64", "", ""},
                               {"aliyun_3_x64_20G_alibase_20250101.vhd", "L", "amd64", "", ""},
                               {"aliyun_2_x64_20G_alibase_20250101.vhd", "L", "amd64", "", ""},
                               {"aliyun_3_arm64_20G_alibase_20250101.vhd", "L", "arm64", "", ""}};
  EXPECT_EQ(images_of_alias(all, "AlibabaCloudLinux3").size(), 3U);
  EXPECT_EQ(images_of_alias(all, "AlibabaCloudLinux3@latest")[0].id,
            "aliyun_3_x64_20G_alibase_20250101.vhd");
  const auto old = images_of_alias(all, "AlibabaCloudLinux3@20240528");
  ASSERT_EQ(old.size(), 1U);
  EXPECT_EQ(old[0].id, "aliyun_3_x64_20G_alibase_20240528.vhd");
  EXPECT_TRUE(images_of_alias(all, "Ubuntu").empty());
}

TEST(AlibabaNodeClassHash, SelectorsAndTheOrderOfFieldsDoNotCount) {
  const auto hash = [](const std::string& spec) { return hash_stamp(*node_class_of(spec)).hash; };
  const auto base = hash(R"({"tags":{"a":"b"},"userData":"x"})");
  EXPECT_EQ(base, hash(R"({"userData":"x","tags":{"a":"b"}})"));
  EXPECT_EQ(base, hash(R"({"userData":"x","tags":{"a":"b"},"imageSelectorTerms":[{"id":"m"}]})"));
  EXPECT_NE(base, hash(R"({"userData":"y","tags":{"a":"b"}})"));
  EXPECT_NE(base, hash(R"({"userData":"x","tags":{"a":"b"},"vSwitchSelectionPolicy":"balanced"})"));
}

TEST(AlibabaNodeClassHash, OnlyAHashOfTheSameVersionSaysAnything) {
  const auto stamp = hash_stamp(*node_class_of(R"({"userData":"x"})"));
  model::NodeClaim claim;
  EXPECT_EQ(static_drift(claim, stamp), "");
  claim.meta.annotations[stamp.key] = "other";
  claim.meta.annotations[stamp.version_key] = "v3";
  EXPECT_EQ(static_drift(claim, stamp), "");
  claim.meta.annotations[stamp.version_key] = stamp.version;
  EXPECT_EQ(static_drift(claim, stamp), "NodeClassDrift");
  claim.meta.annotations[stamp.key] = stamp.hash;
  EXPECT_EQ(static_drift(claim, stamp), "");
}

TEST(AlibabaDrift, AnInstanceThatItsClassDoesNotSelectAnyMoreSaysWhy) {
  NodeClassFindings findings;
  findings.vswitches = {{"vsw-1", "z1"}};
  findings.security_groups = {{"sg-2", "b"}, {"sg-1", "a"}};
  findings.images = {resolved({"m-1", "n", "amd64", ""})};
  scheduling::InstanceType type;
  type.requirements.add(scheduling::Requirement::in(model::kArchLabel, {"amd64"}));
  EcsInstance instance;
  instance.image_id = "m-1";
  instance.vswitch_id = "vsw-1";
  instance.security_groups = {"sg-1", "sg-2"};
  EXPECT_EQ(drift_reason(findings, instance, &type), "");
  instance.vswitch_id = "vsw-9";
  EXPECT_EQ(drift_reason(findings, instance, &type), "VSwitchDrift");
  instance.security_groups = {"sg-1"};
  EXPECT_EQ(drift_reason(findings, instance, &type), "SecurityGroupDrift");
  instance.image_id = "m-0";
  EXPECT_EQ(drift_reason(findings, instance, &type), "ImageDrift");
  EXPECT_EQ(drift_reason({}, instance, &type), "");
}

TEST(AlibabaNodeClassSpec, EveryFieldIsRead) {
  const auto spec = read_spec(*node_class_of(R"({
    "vSwitchSelectionPolicy":"balanced","kubeletConfiguration":{"maxPods":40,"podsPerCore":5,
      "kubeReserved":{"cpu":"100m"}},"systemDisk":{"categories":["cloud_essd"],"size":60,
      "performanceLevel":"PL1"},"dataDisks":[{"volumeSize":"100Gi","device":"/dev/xvdb"}],
    "tags":{"team":"a"},"spotStrategy":"SpotWithPriceLimit","spotPriceLimit":"0.35",
    "metadataOptions":{"httpTokens":"required","httpPutResponseHopLimit":2}})"));
  EXPECT_TRUE(spec.balanced);
  EXPECT_EQ(spec.kubelet.max_pods, 40);
  EXPECT_EQ(spec.system_disk.gib, 60);
  EXPECT_THAT(spec.system_disk.categories, ElementsAre("cloud_essd"));
  ASSERT_EQ(spec.data_disks.size(), 1U);
  EXPECT_EQ(spec.data_disks[0].gib, 100);
  EXPECT_EQ(spec.spot_price_limit, "0.35");
  EXPECT_EQ(spec.hop_limit, 2);
  const auto hostile = read_spec(*node_class_of(R"({"tags":[],"systemDisk":7,"dataDisks":[null],
    "kubeletConfiguration":"x","vSwitchSelectorTerms":[{"tags":3,"id":[]}]})"));
  EXPECT_EQ(hostile.system_disk.gib, 20);
  EXPECT_EQ(hostile.data_disks.size(), 1U);
}

}  // namespace
}  // namespace millwright::cloud::alibaba
