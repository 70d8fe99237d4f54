// What a NodeClass resolves to, and drift.
#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"
#include "simulated_fixture.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud {
namespace {

using ::testing::HasSubstr;

boost::json::value json(std::string_view text) {
  return boost::json::parse(text);
}

struct Resolving {
  const char* name;
  Profile profile;
  const char* kind;
  const char* spec;
  const char* reason;  // empty: ready
  const char* field;   // in the message
};

TEST(NodeClass, IsReadyWhenEverySelectorFindsSomething) {
  const std::vector<Resolving> cases{
      {"kwok", Profile::Kwok, "KWOKNodeClass", "{}", "", ""},
      {"aws", Profile::Aws, "EC2NodeClass",
       R"({"role": "r", "subnetSelectorTerms": [{"tags": {"a": "b"}}],
           "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
           "amiSelectorTerms": [{"alias": "al2023@latest"}]})",
       "", ""},
      {"aws without subnets", Profile::Aws, "EC2NodeClass",
       R"({"subnetSelectorTerms": [], "amiSelectorTerms": [{"alias": "al2023@latest"}]})",
       "SubnetsNotFound", "spec.subnetSelectorTerms"},
      {"aws without groups", Profile::Aws, "EC2NodeClass",
       R"({"subnetSelectorTerms": [{"id": "subnet-1"}]})", "SecurityGroupsNotFound",
       "spec.securityGroupSelectorTerms"},
      {"aws without images", Profile::Aws, "EC2NodeClass",
       R"({"subnetSelectorTerms": [{"id": "subnet-1"}],
           "securityGroupSelectorTerms": [{"id": "sg-1"}]})",
       "AMINotFound", "spec.amiSelectorTerms"},
      {"alibaba", Profile::Alibaba, "ECSNodeClass",
       R"({"vSwitchSelectorTerms": [{"tags": {"a": "b"}}],
           "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
           "imageSelectorTerms": [{"alias": "ContainerOS"}]})",
       "", ""},
      {"alibaba without switches", Profile::Alibaba, "ECSNodeClass", "{}", "VSwitchesNotFound",
       "spec.vSwitchSelectorTerms"},
      {"huawei", Profile::Huawei, "CCENodeClass",
       R"({"subnetSelectorTerms": [{"id": "30abcb7b-ddeb-4a93-9e83-0b21f59b07a3"}]})", "", ""},
      {"huawei without subnets", Profile::Huawei, "CCENodeClass", "null", "SubnetsNotFound",
       "spec.subnetSelectorTerms"},
      {"spec of the wrong shape", Profile::Aws, "EC2NodeClass",
       R"({"subnetSelectorTerms": {"id": 1}})", "SubnetsNotFound", "spec.subnetSelectorTerms"},
  };
  for (const auto& test : cases) {
    Bench bench(test.profile);
    const auto state = bench.wait(bench.cloud->resolve(node_class(test.kind, json(test.spec))));
    ASSERT_TRUE(state) << test.name;
    EXPECT_EQ(state->ready, std::string(test.reason).empty()) << test.name;
    EXPECT_EQ(state->reason, test.reason) << test.name;
    EXPECT_THAT(state->message, HasSubstr(test.field)) << test.name;
  }
}

TEST(NodeClass, StatusHasTheFormOfItsKind) {
  Bench aws(Profile::Aws);
  const auto state = aws.wait(aws.cloud->resolve(node_class("EC2NodeClass", json(R"({
      "subnetSelectorTerms": [{"tags": {"a": "b"}}],
      "securityGroupSelectorTerms": [{"id": "sg-0a"}],
      "amiSelectorTerms": [{"alias": "al2023@latest"}]})"))));
  const auto& status = state->status.as_object();
  ASSERT_EQ(status.at("subnets").as_array().size(), 3U);
  EXPECT_EQ(status.at("subnets").as_array()[0].at("zone"), "us-west-2a");
  EXPECT_EQ(status.at("subnets").as_array()[0].at("zoneID"), "usw2-az2");
  EXPECT_EQ(status.at("securityGroups").as_array()[0].at("id"), "sg-0a");
  ASSERT_EQ(status.at("amis").as_array().size(), 2U) << "one per architecture";
  EXPECT_EQ(status.at("amis").as_array()[1].at("requirements").as_array()[0].at("values"),
            json(R"(["arm64"])"));

  Bench huawei(Profile::Huawei);
  const auto cce = huawei.wait(huawei.cloud->resolve(
      node_class("CCENodeClass", json(R"({"subnetSelectorTerms": [{"id": "30abcb7b"}]})"))));
  EXPECT_EQ(cce->status, json(R"({"subnets": [{"id": "30abcb7b"}]})"));

  Bench alibaba(Profile::Alibaba);
  const auto ecs = alibaba.wait(alibaba.cloud->resolve(node_class("ECSNodeClass", json(R"({
      "vSwitchSelectorTerms": [{"id": "vsw-1"}], "securityGroupSelectorTerms": [{"name": "n"}],
      "imageSelectorTerms": [{"alias": "ContainerOS"}]})"))));
  EXPECT_EQ(ecs->status.at("vSwitches"), json(R"([{"id": "vsw-1", "zoneID": "cn-hangzhou-h"}])"));
  EXPECT_EQ(ecs->status.at("images").as_array().size(), 1U) << "ContainerOS is x86-64 only";
}

std::shared_ptr<model::NodeClass> official_class(std::string_view spec) {
  auto result = node_class("ECSNodeClass", json(spec));
  result->api_version = model::kOfficialEcsNodeClassResource.api_version();
  return result;
}

TEST(NodeClass, OfAlibabaCloudsOwnProviderIsToldOfInItsWords) {
  Bench bench(Profile::Alibaba);
  const auto served = bench.cloud->node_classes();
  EXPECT_NE(std::find(served.begin(), served.end(), model::kOfficialEcsNodeClassResource),
            served.end());
  const auto of = official_class(R"({"clusterID": "any", "vSwitchSelectorTerms": [{"id": "vsw-1"}],
      "securityGroupSelectorTerms": [{"name": "n"}], "role": "worker",
      "imageSelectorTerms": [{"imageFamily": "web"}]})");
  const auto state = bench.wait(bench.cloud->resolve(of)).value();
  EXPECT_TRUE(state.ready) << state.message;
  EXPECT_EQ(state.status.at("ready"), true);
  EXPECT_EQ(state.status.at("ramRole"), "worker");
  EXPECT_EQ(state.status.at("images").at(1).at("architecture"), "arm64");
  of->status = state.status;
  const auto made = bench.wait(
      bench.cloud->create(claim("a", {one_of("karpenter.alibabacloud.com/instance-category", {"g"}),
                                      one_of(model::kArchLabel, {"arm64"})}),
                          of));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-family"), "g8y");
  EXPECT_EQ(made->labels.at("topology.kubernetes.io/zone"), "cn-hangzhou-h");
  EXPECT_EQ(made->image_id, state.status.at("images").at(1).at("id").as_string());
  EXPECT_TRUE(made->annotations.contains("karpenter.sh/ecsnodeclass-hash"));

  const auto templated = official_class(R"({"launchTemplateID": "lt-1"})");
  const auto refused = bench.wait(bench.cloud->resolve(templated)).value();
  EXPECT_FALSE(refused.ready);
  EXPECT_EQ(refused.reason, "SpecNotSupported");
  EXPECT_EQ(bench.cloud->unsupported(*templated).size(), 1U);
}

TEST(NodeClass, OffersOnlyTheZonesOfItsSubnetsAndTheImageOfTheArchitecture) {
  Bench bench(Profile::Aws);
  auto resolved = node_class("EC2NodeClass", json(R"({
      "subnetSelectorTerms": [{"id": "subnet-1"}],
      "securityGroupSelectorTerms": [{"id": "sg-1"}],
      "amiSelectorTerms": [{"alias": "al2023@latest"}]})"));
  resolved->status = bench.wait(bench.cloud->resolve(resolved))->status;
  const auto types = *bench.cloud->instance_types({}, *resolved);
  for (const auto& type : *types) {
    for (const auto& offering : type.offerings) {
      EXPECT_EQ(offering.available, offering.zone() == "us-west-2a");
    }
  }
  const auto arm =
      bench.wait(bench.cloud->create(claim("a", {one_of(model::kArchLabel, {"arm64"})}), resolved));
  ASSERT_TRUE(arm) << arm.error().message;
  EXPECT_EQ(arm->labels.at("topology.kubernetes.io/zone"), "us-west-2a");
  EXPECT_EQ(arm->image_id, resolved->status.at("amis").as_array()[1].at("id").as_string());
  EXPECT_FALSE(bench.wait(
      bench.cloud->create(claim("b", {one_of(model::kZoneLabel, {"us-west-2b"})}), resolved)));
}

TEST(Drift, FollowsTheSpecButNotItsSelectorsOrFieldOrder) {
  Bench bench(Profile::Aws);
  const auto before = node_class("EC2NodeClass", json(R"({"role": "r", "tags": {"a": "1", "b": "2"},
                               "subnetSelectorTerms": [{"id": "subnet-1"}]})"));
  const auto instance = bench.wait(bench.cloud->create(claim("a"), before));
  ASSERT_TRUE(instance);
  auto owner = claim("a");
  owner->meta.annotations = instance->annotations;
  struct Case {
    const char* name;
    const char* spec;
    const char* reason;
  };
  for (const auto& test :
       {Case{"same", R"({"role": "r", "tags": {"a": "1", "b": "2"},
                         "subnetSelectorTerms": [{"id": "subnet-1"}]})",
             ""},
        Case{"order", R"({"tags": {"b": "2", "a": "1"}, "role": "r"})", ""},
        Case{"selector", R"({"role": "r", "tags": {"a": "1", "b": "2"},
                             "subnetSelectorTerms": [{"id": "subnet-2"}]})",
             ""},
        Case{"changed", R"({"role": "other", "tags": {"a": "1", "b": "2"}})", "NodeClassDrift"},
        Case{"added", R"({"role": "r", "tags": {"a": "1", "b": "2"}, "userData": "x"})",
             "NodeClassDrift"}}) {
    const auto reason =
        bench.wait(bench.cloud->drift(owner, node_class("EC2NodeClass", json(test.spec))));
    EXPECT_EQ(*reason, test.reason) << test.name;
  }
}

TEST(Drift, IsNotReportedForClaimsThatAnotherVersionStamped) {
  Bench bench(Profile::Aws);
  auto owner = claim("a");
  owner->meta.annotations = {{"karpenter.k8s.aws/ec2nodeclass-hash", "123"},
                             {"karpenter.k8s.aws/ec2nodeclass-hash-version", "v6"}};
  EXPECT_EQ(*bench.wait(bench.cloud->drift(owner, node_class("EC2NodeClass"))), "");
  owner->meta.annotations.clear();
  EXPECT_EQ(*bench.wait(bench.cloud->drift(owner, node_class("EC2NodeClass"))), "");
}

}  // namespace
}  // namespace millwright::cloud
