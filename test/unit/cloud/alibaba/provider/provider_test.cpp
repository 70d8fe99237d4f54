#include "cloud/alibaba/alibaba_cloud.hpp"
#include "cloud/alibaba/launch/launch_request.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"
#include "unit/cloud/alibaba/fakes/fake_cloud.hpp"

#include <boost/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kUid = "11111111-2222-3333-4444-555555555555";

class AlibabaProviderTest : public FakeCloudTest {
 protected:
  AlibabaProviderTest()
      : cloud({.loop = loop,
               .client = http,
               .settings = settings(),
               .environment = machine.environment(),
               .endpoints = endpoints,
               .metrics = metrics,
               .log = {}},
              {}) {
    machine.variables = {{"ALIBABA_CLOUD_ACCESS_KEY_ID", "LTAIfake"},
                         {"ALIBABA_CLOUD_ACCESS_KEY_SECRET", "secret"}};
    on("DescribeInstanceTypes", {R"({"InstanceTypes":{"InstanceType":[
      {"InstanceTypeId":"ecs.g7.large","InstanceTypeFamily":"ecs.g7","CpuArchitecture":"X86",
       "CpuCoreCount":2,"MemorySize":8,"EniQuantity":3,"EniPrivateIpAddressQuantity":6}]}})"});
    on("DescribeAvailableResource", {R"({"AvailableZones":{"AvailableZone":[{"ZoneId":"z1",
      "AvailableResources":{"AvailableResource":[{"SupportedResources":{"SupportedResource":[
        {"Value":"ecs.g7.large","StatusCategory":"WithStock"}]}}]}}]}})"});
    on("DescribeSpotPriceHistory", {R"({"SpotPrices":{"SpotPriceType":[{"ZoneId":"z1",
      "SpotPrice":0.2,"OriginPrice":1,"Timestamp":"2026-01-01T23:00:00Z"}]}})"});
    on("DescribeClusterDetail", {R"({"current_version":"1.31.1-aliyun.1",
      "meta_data":"{\"Capabilities\":{\"Network\":\"terway-eniip\"}}"})"});
    show_trunking(R"(\"false\")");
    on("DescribeVSwitches", {R"({"VSwitches":{"VSwitch":[{"VSwitchId":"vsw-1","ZoneId":"z1",
      "AvailableIpAddressCount":9}]},"TotalCount":1})"});
    on("DescribeSecurityGroups",
       {R"({"SecurityGroups":{"SecurityGroup":[{"SecurityGroupId":"sg-1"}]}})"});
    on("DescribeKubernetesVersionMetadata", {R"([{"images":[{"image_id":"m-1",
      "image_name":"ContainerOS 3.2","architecture":"x86_64"}]}])"});
    on("DescribeClusterAttachScripts", {R"("#!/bin/sh\ncurl x | bash -s -- --token t")"});
    on("CreateAutoProvisioningGroup", {R"({"LaunchResults":{"LaunchResult":[
      {"InstanceType":"ecs.g7.large","ZoneId":"z1","InstanceIds":{"InstanceId":["i-1"]}}]}})"});
    on("DeleteInstances", {"{}"});
    show_instance("");
    node_class->meta.name = "main";
    node_class->spec = model::parse_json(R"({"vSwitchSelectorTerms":[{"tags":{"a":"b"}}],
      "securityGroupSelectorTerms":[{"tags":{"a":"b"}}],
      "imageSelectorTerms":[{"alias":"ContainerOS"}]})")
                           .value();
    claim->meta.name = "pool-abc";
    claim->meta.uid = kUid;
  }
  static AlibabaSettings settings() {
    AlibabaSettings result;
    result.cluster_id = "c1";
    result.seed = 1;
    return result;
  }
  // What Terway's configuration says of trunk interfaces, as JSON inside a text.
  void show_trunking(const std::string& value) {
    on("GetClusterAddonInstance",
       {R"({"name":"terway-eniip","config":"{\"ENITrunking\":)" + value + R"(}"})"});
  }
  // A type with 8 interfaces, and room for 12 more on a trunk.
  void show_large_type() {
    on("DescribeInstanceTypes", {R"({"InstanceTypes":{"InstanceType":[
      {"InstanceTypeId":"ecs.g7.large","InstanceTypeFamily":"ecs.g7","CpuArchitecture":"X86",
       "CpuCoreCount":2,"MemorySize":8,"EniQuantity":8,"EniPrivateIpAddressQuantity":30,
       "EniTotalQuantity":20,"EniTrunkSupported":true}]}})"});
  }
  std::int64_t offered(std::string_view resource, const model::NodePool& pool = {}) {
    return model::get(cloud.instance_types(pool, *node_class).value()->at(0).capacity, resource)
        .units();
  }
  // The one instance there is, with more fields; "" for none.
  void show_instance(const std::string& fields) {
    std::string instance;
    if (!fields.empty()) {
      instance = R"({"InstanceId":"i-1","InstanceType":"ecs.g7.large","ZoneId":"z1","ImageId":"m-1",
        "SecurityGroupIds":{"SecurityGroupId":["sg-1"]},"Status":"Running",
        "VpcAttributes":{"VSwitchId":"vsw-1","PrivateIpAddress":{"IpAddress":["10.0.0.7"]}},
        "Tags":{"Tag":[{"TagKey":"karpenter.sh/nodepool","TagValue":"pool"},
          {"TagKey":"karpenter.sh/nodeclaim","TagValue":"pool-abc"},
          {"TagKey":"karpenter.k8s.alibabacloud/ecsnodeclass","TagValue":"main"},
          {"TagKey":"millwright.io/nodeclaim-uid","TagValue":")" +
                 std::string(kUid) + "\"}]}," + fields + "}";
    }
    on("DescribeInstances", {R"({"Instances":{"Instance":[)" + instance + "]}}"});
  }
  // Runs the background work until the catalog has types and prices.
  void start() {
    group.spawn(cloud.run(stop.get_token()));
    loop.run_for(2min);
    auto state = wait(loop, cloud.resolve(node_class)).value();
    EXPECT_TRUE(state.ready) << state.message;
    node_class->status = state.status;
  }
  void TearDown() override {
    stop.request_stop();
    loop.run_for(1min);
  }

  base::Metrics metrics;
  AlibabaCloud cloud;
  std::stop_source stop;
  base::TaskGroup group{loop};
  std::shared_ptr<model::NodeClass> node_class = std::make_shared<model::NodeClass>();
  std::shared_ptr<model::NodeClaim> claim = std::make_shared<model::NodeClaim>();
};

TEST_F(AlibabaProviderTest, AClaimGetsAnInstanceWithItsLabels) {
  EXPECT_EQ(wait(loop, cloud.create(claim, node_class)).error().kind, ErrorKind::Unavailable);
  start();
  const auto made = wait(loop, cloud.create(claim, node_class));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "cn-hangzhou.i-1");
  EXPECT_EQ(made->image_id, "m-1");
  EXPECT_EQ(made->labels.at("topology.kubernetes.io/zone"), "z1");
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "spot");
  EXPECT_EQ(made->labels.at("karpenter.k8s.alibabacloud/instance-family"), "ecs.g7");
  EXPECT_EQ(made->labels.at("karpenter.k8s.alibabacloud/ecsnodeclass"), "main");
  EXPECT_EQ(model::get(made->capacity, "pods").units(), 15);
}

TEST_F(AlibabaProviderTest, MembersOfATrunkAreOfferedWhereTerwayIsConfiguredSo) {
  show_large_type();
  start();
  struct Case {
    const char* value;
    std::int64_t members;
  };
  for (const auto& [value, members] :
       {Case{R"(\"true\")", 12}, Case{"true", 12}, Case{R"(\"false\")", 0}, Case{"null", 0}}) {
    show_trunking(value);
    loop.run_for(6min);  // the cluster is asked again
    EXPECT_TRUE(wait(loop, cloud.resolve(node_class)).value().ready);
    EXPECT_EQ(offered("aliyun/member-eni"), members) << value;
    EXPECT_EQ(offered("pods"), 213) << value;
  }
  EXPECT_EQ(asked("GetClusterAddonInstance").at(0).url,
            "https://cs.cn-hangzhou.aliyuncs.com/clusters/c1/addon_instances/terway-eniip");
}

TEST_F(AlibabaProviderTest, ACloudThatDoesNotTellOfTrunksSellsNodesAllTheSame) {
  show_large_type();
  show_trunking(R"(\"true\")");
  start();
  EXPECT_EQ(offered("aliyun/member-eni"), 12);
  refuse("GetClusterAddonInstance", "Forbidden.RAM", 403);
  loop.run_for(6min);
  EXPECT_TRUE(wait(loop, cloud.resolve(node_class)).value().ready);
  EXPECT_EQ(offered("aliyun/member-eni"), 12);  // what was known
  refuse("GetClusterAddonInstance", "AddonNotFound", 404);
  loop.run_for(6min);
  EXPECT_TRUE(wait(loop, cloud.resolve(node_class)).value().ready);
  EXPECT_EQ(offered("aliyun/member-eni"), 0);
}

TEST_F(AlibabaProviderTest, APoolWhosePodsHaveInterfacesOfTheirOwnGetsNodesThatHaveThem) {
  show_large_type();
  start();
  const std::string label = "k8s.aliyun.com/exclusive-mode-eni-type";
  model::NodePool by_label;
  by_label.template_.labels = model::StringMap{{label, "eniOnly"}};
  model::NodePool by_requirement;
  by_requirement.template_.requirements = {
      {.key = label, .op = model::Operator::In, .values = {"eniOnly"}, .min_values = {}}};
  EXPECT_EQ(offered("aliyun/eni"), 0);
  EXPECT_EQ(offered("aliyun/eni", by_label), 7);
  EXPECT_EQ(offered("aliyun/eni", by_requirement), 7);

  claim->requests["aliyun/eni"] = model::Quantity::from_units(7);
  EXPECT_FALSE(wait(loop, cloud.create(claim, node_class)));  // nodes without the label have none
  claim->meta.labels[label] = "eniOnly";
  const auto made = wait(loop, cloud.create(claim, node_class));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(model::get(made->capacity, "aliyun/eni").units(), 7);
}

TEST_F(AlibabaProviderTest, AClaimThatHasAnInstanceGetsNoSecond) {
  start();
  claim->meta.creation_timestamp = kStart - 1min;
  show_instance(R"("SpotStrategy":"NoSpot")");
  const auto made = wait(loop, cloud.create(claim, node_class));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "on-demand");
  EXPECT_TRUE(asked("CreateAutoProvisioningGroup").empty());
}

TEST_F(AlibabaProviderTest, AClassThatIsNotReadyLaunchesNothing) {
  start();
  auto& condition = node_class->conditions.emplace_back();
  condition.type = model::kReady;
  condition.status = model::ConditionStatus::False;
  condition.message = "no image";
  const auto refused = wait(loop, cloud.create(claim, node_class));
  EXPECT_EQ(refused.error().kind, ErrorKind::NotReady);
  EXPECT_THAT(refused.error().message, HasSubstr("ECSNodeClass main is not ready: no image"));
}

TEST_F(AlibabaProviderTest, RemovingWaitsOutTheStart) {
  show_instance(R"("X":"")");
  claim->provider_id = "cn-hangzhou.i-1";
  refuse("DeleteInstances", "IncorrectInstanceStatus.Initializing", 403);
  EXPECT_TRUE(wait(loop, cloud.remove(claim)));
  on("DeleteInstances", {"{}"});
  EXPECT_TRUE(wait(loop, cloud.remove(claim)));
  EXPECT_TRUE(wait(loop, cloud.get("cn-hangzhou.i-1"))->terminating);
  show_instance("");
  EXPECT_EQ(wait(loop, cloud.remove(claim)).error().kind, ErrorKind::NotFound);
}

TEST_F(AlibabaProviderTest, AProtectedInstanceIsReported) {
  show_instance(R"("X":"")");
  claim->provider_id = "cn-hangzhou.i-1";
  refuse("DeleteInstances", "OperationDenied.DeletionProtection", 403);
  EXPECT_THAT(wait(loop, cloud.remove(claim)).error().message,
              HasSubstr("NodeClaim pool-abc: ecs DeleteInstances: OperationDenied."));
}

TEST_F(AlibabaProviderTest, AnInstanceThatItsClaimDoesNotKnowYetIsRemovedToo) {
  show_instance(R"("X":"")");
  EXPECT_TRUE(wait(loop, cloud.remove(claim)));
  EXPECT_EQ(parameter(asked("DeleteInstances").at(0), "InstanceId.1"), "i-1");
}

TEST_F(AlibabaProviderTest, IdsOfOtherCloudsAndRegionsAreNotFound) {
  for (const std::string id : {"aws:///z/i-1", "cn-beijing.i-1", "cn-hangzhou.x", ""}) {
    EXPECT_EQ(wait(loop, cloud.get(id)).error().kind, ErrorKind::NotFound) << id;
  }
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(AlibabaProviderTest, TheListNamesClaimsAndNodes) {
  show_instance(R"("CreationTime":"2026-01-02T03:04Z")");
  const auto all = wait(loop, cloud.list()).value();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].node_claim, "pool-abc");
  EXPECT_EQ(all[0].node_pool, "pool");
  EXPECT_EQ(all[0].node_name, "cn-hangzhou.10.0.0.7");
  EXPECT_FALSE(all[0].terminating);
  EXPECT_EQ(parameter(asked("DescribeInstances")[0], "Tag.1.Key"), "kubernetes.io/cluster/c1");
}

TEST_F(AlibabaProviderTest, DriftIsFoundOnTheInstance) {
  start();
  show_instance(R"("X":"")");
  claim->provider_id = "cn-hangzhou.i-1";
  EXPECT_EQ(wait(loop, cloud.drift(claim, node_class)).value(), "");
  node_class->status.at("vSwitches").at(0).as_object()["id"] = "vsw-9";
  EXPECT_EQ(wait(loop, cloud.drift(claim, node_class)).value(), "VSwitchDrift");
  show_instance("");
  EXPECT_EQ(wait(loop, cloud.drift(claim, node_class)).value(), "");
}

TEST_F(AlibabaProviderTest, ARecycledSpotInstanceIsToldUntilSomebodyActs) {
  struct Listener {
    static base::Task<base::Result<>> hear(std::vector<InstanceNotice>& told,
                                           InstanceNotice notice) {
      told.push_back(std::move(notice));
      if (told.size() == 1) {
        co_return base::fail(ErrorKind::Unavailable, "not now");
      }
      co_return base::Result<>{};
    }
  };
  std::vector<InstanceNotice> told;
  cloud.on_interruption(
      [&told](InstanceNotice notice) { return Listener::hear(told, std::move(notice)); });
  show_instance(R"("SpotStrategy":"SpotAsPriceGo",
                   "OperationLocks":{"LockReason":[{"LockReason":"Recycling"}]})");
  group.spawn(cloud.lead(stop.get_token()));
  loop.run_for(90s);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].provider_id, "cn-hangzhou.i-1");
  EXPECT_EQ(told[0].action, InstanceNotice::Action::Drain);
}

// Classes of Alibaba Cloud's own provider.
class OfficialProviderTest : public AlibabaProviderTest {
 protected:
  OfficialProviderTest() {
    on("DescribeImages", {R"({"Images":{"Image":[{"ImageId":"m-9","ImageName":"own",
      "Architecture":"x86_64","CreationTime":"2026-01-01T00:00:00Z"}]}})"});
    official->api_version = model::kOfficialEcsNodeClassResource.api_version();
    official->kind = "ECSNodeClass";
    official->meta.name = "main";
    node_class->api_version = model::kEcsNodeClassResource.api_version();
    node_class->kind = "ECSNodeClass";
    spec(R"({"vSwitchSelectorTerms":[{"id":"vsw-1"}],
      "securityGroupSelectorTerms":[{"id":"sg-1"}],"imageSelectorTerms":[{"id":"m-9"}],
      "role":"worker","kubelet":{"maxPods":40},"systemDisk":{"size":60}})");
  }
  void spec(const std::string& text) { official->spec = model::parse_json(text).value(); }
  NodeClassState resolve() {
    auto state = wait(loop, cloud.resolve(official)).value();
    official->status = state.status;
    return state;
  }

  std::shared_ptr<model::NodeClass> official = std::make_shared<model::NodeClass>();
};

TEST_F(OfficialProviderTest, AClassIsToldOfInTheWordsOfItsGroup) {
  start();
  const auto state = resolve();
  EXPECT_TRUE(state.ready) << state.message;
  EXPECT_EQ(state.status, model::parse_json(R"({
    "vSwitches":[{"id":"vsw-1","zone":"z1","zoneID":"z1"}],
    "securityGroups":[{"id":"sg-1","name":""}],
    "images":[{"id":"m-9","name":"own","architecture":"x86_64"}],
    "ready":true,"ramRole":"worker"})")
                              .value());
  std::vector<std::string> conditions;
  for (const auto& condition : state.conditions) {
    conditions.push_back(condition.type);
  }
  EXPECT_THAT(conditions,
              testing::ElementsAre("VSwitchResolved", "SecurityGroupResolved", "ImageResolved"));
  EXPECT_EQ(state.stamp->key, "karpenter.sh/ecsnodeclass-hash");
  EXPECT_EQ(state.stamp->version_key, "karpenter.sh/ecsnodeclass-hash-version");
  EXPECT_EQ(cloud.node_class_finalizer(*official), "karpenter.alibabacloud.com/termination");
  EXPECT_EQ(cloud.node_class_finalizer(*node_class), "karpenter.k8s.alibabacloud/termination");
}

TEST_F(OfficialProviderTest, AClaimGetsAnInstanceWithTheLabelsAndTagsOfItsGroup) {
  start();
  resolve();
  const auto made = wait(loop, cloud.create(claim, official));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->image_id, "m-9");
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-family"), "g7");
  EXPECT_EQ(made->labels.at("karpenter.alibabacloud.com/instance-cpu"), "2");
  EXPECT_EQ(made->labels.at("karpenter.alibabacloud.com/ecsnodeclass"), "main");
  EXPECT_FALSE(made->labels.contains("karpenter.k8s.alibabacloud/instance-family"));
  EXPECT_EQ(model::get(made->capacity, "pods").units(), 40);
  EXPECT_TRUE(made->annotations.contains("karpenter.sh/ecsnodeclass-hash"));
  const auto request = asked("CreateAutoProvisioningGroup").at(0);
  std::map<std::string, std::string> tags;
  for (int at = 1; at <= 10; ++at) {
    const auto tag = "LaunchConfiguration.Tag." + std::to_string(at);
    tags[parameter(request, tag + ".Key")] = parameter(request, tag + ".Value");
  }
  EXPECT_EQ(tags["karpenter.alibabacloud.com/ecsnodeclass"], "main");
  EXPECT_EQ(tags["karpenter.sh/managed-by"], "karpenter");
  EXPECT_EQ(tags["karpenter.sh/cluster-id"], "c1");
  EXPECT_EQ(tags["kubernetes.io/cluster/c1"], "owned");
  EXPECT_FALSE(tags.contains("karpenter.k8s.alibabacloud/ecsnodeclass"));
}

TEST_F(OfficialProviderTest, BothKindsUnderOneNameKeepTheirOwnTypes) {
  start();
  resolve();
  for (int time = 0; time < 2; ++time) {
    const auto first = cloud.instance_types({}, *node_class).value();
    const auto second = cloud.instance_types({}, *official).value();
    EXPECT_EQ(model::get(first->at(0).capacity, "pods").units(), 15);
    EXPECT_EQ(model::get(second->at(0).capacity, "pods").units(), 40);
    EXPECT_EQ(model::get(second->at(0).capacity, "ephemeral-storage").units(), 60LL << 30);
  }
}

TEST_F(OfficialProviderTest, WhatCannotBeToldMakesNoNodes) {
  start();
  spec(R"({"launchTemplateID":"lt-1","clusterID":"c2","vSwitchSelectorTerms":[{"id":"vsw-1"}],
    "securityGroupSelectorTerms":[{"id":"sg-1"}],"imageSelectorTerms":[{"id":"m-9"}]})");
  const auto state = resolve();
  EXPECT_FALSE(state.ready);
  EXPECT_EQ(state.reason, "SpecNotSupported");
  EXPECT_THAT(state.message, HasSubstr("spec.launchTemplateID is not supported"));
  EXPECT_THAT(state.message, HasSubstr("spec.clusterID is not the cluster of this controller's"));
  EXPECT_EQ(state.status.at("ready"), false);
  EXPECT_EQ(state.status.at("ramRole"), nullptr);
  // Whoever applies it is told the same.
  EXPECT_THAT(cloud.unsupported(*official),
              testing::ElementsAre(HasSubstr("spec.launchTemplateID is not supported"),
                                   HasSubstr("spec.clusterID is not the cluster")));
  EXPECT_TRUE(cloud.unsupported(*node_class).empty());
  // Before the condition is written, too.
  const auto refused = wait(loop, cloud.create(claim, official));
  EXPECT_EQ(refused.error().kind, ErrorKind::NotReady);
  EXPECT_THAT(refused.error().message, HasSubstr("spec.launchTemplateID"));
  EXPECT_TRUE(asked("CreateAutoProvisioningGroup").empty());
}

TEST_F(OfficialProviderTest, DriftIsOfTheClassAsItIsNow) {
  start();
  resolve();
  const auto made = wait(loop, cloud.create(claim, official)).value();
  claim->meta.annotations = made.annotations;
  EXPECT_EQ(wait(loop, cloud.drift(claim, official)).value(), "");
  official->spec.as_object()["role"] = "other";
  EXPECT_EQ(wait(loop, cloud.drift(claim, official)).value(), "NodeClassDrift");
}

TEST_F(OfficialProviderTest, InstancesOfThatProviderAreListedToo) {
  on("DescribeInstances", {R"({"Instances":{"Instance":[]}})",
                           R"({"Instances":{"Instance":[{"InstanceId":"i-7","Tags":{"Tag":[
    {"TagKey":"karpenter.sh/nodepool","TagValue":"pool"},
    {"TagKey":"karpenter.sh/nodeclaim","TagValue":"pool-old"},
    {"TagKey":"karpenter.sh/managed-by","TagValue":"karpenter"}]}}]}})"});
  const auto all = wait(loop, cloud.list()).value();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].node_claim, "pool-old");
  const auto second = asked("DescribeInstances").at(1);
  EXPECT_EQ(parameter(second, "Tag.1.Key"), "karpenter.sh/cluster-id");
  EXPECT_EQ(parameter(second, "Tag.1.Value"), "c1");
  EXPECT_EQ(parameter(second, "Tag.2.Key"), "karpenter.sh/managed-by");
}

}  // namespace
}  // namespace millwright::cloud::alibaba
