// Which machines a claim may become, and the requests that ask for them.
#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "unit/cloud/aws/catalog/catalog_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

model::SelectorRequirement one_of(std::string key, std::vector<std::string> values) {
  return {.key = std::move(key), .op = model::Operator::In, .values = std::move(values)};
}

class LaunchPlanTest : public testing::Test {
 protected:
  LaunchPlanTest() : catalog("us-west-2", {}) {
    register_labels();
    ZonesByType zones;
    PriceTable on_demand;
    for (const auto& type : test_types()) {
      zones[type.name] = {"us-west-2a", "us-west-2b"};
      on_demand[type.name] = static_cast<double>(type.cpus) * 0.05;
    }
    catalog.set_types(test_types());
    catalog.set_zones(std::move(zones));
    catalog.prices().set_on_demand(std::move(on_demand));
  }
  base::Result<LaunchPlan> plan() {
    const auto types = catalog.types(*the_class, kStart);
    const auto findings = read_status(*the_class);
    LaunchContext context{.types = *types, .findings = findings, .free_addresses = {}};
    context.free_addresses = [this](std::string_view id) { return free[std::string(id)]; };
    return plan_launch(claim, context);
  }
  std::vector<std::string> types_of(const LaunchPlan& made) {
    std::vector<std::string> result;
    for (const auto& group : made.groups) {
      for (const auto& option : group.options) {
        if (std::find(result.begin(), result.end(), option.type) == result.end()) {
          result.push_back(option.type);
        }
      }
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  Catalog catalog;
  std::shared_ptr<model::NodeClass> the_class = node_class({{"amiFamily", "AL2023"}});
  model::NodeClaim claim;
  std::map<std::string, std::int64_t> free;
};

TEST_F(LaunchPlanTest, OptionsAreWhatTheClaimAllows) {
  claim.requirements = {one_of("node.kubernetes.io/instance-type", {"m5.large", "m6i.large"}),
                        one_of("topology.kubernetes.io/zone", {"us-west-2b"})};
  const auto made = plan();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->capacity_type, "on-demand");
  ASSERT_EQ(made->groups.size(), 1U);
  EXPECT_EQ(made->groups[0].image_id, "ami-amd");
  EXPECT_EQ(made->groups[0].max_pods, 29);
  ASSERT_EQ(made->groups[0].options.size(), 2U);
  EXPECT_EQ(made->groups[0].options[0].type, "m5.large");
  EXPECT_EQ(made->groups[0].options[0].subnet, "subnet-b");
  EXPECT_EQ(made->groups[0].options[0].price, 0.1);
}

TEST_F(LaunchPlanTest, SpotComesBeforeOnDemandWhereAllowed) {
  catalog.prices().set_spot(
      {{"m5.large", {{"us-west-2a", 0.03}}}, {"m6i.large", {{"us-west-2a", 5.0}}}});
  catalog.touch();
  claim.requirements = {one_of("node.kubernetes.io/instance-type", {"m5.large", "m6i.large"})};
  auto made = plan();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->capacity_type, "spot");
  EXPECT_THAT(types_of(*made), ElementsAre("m5.large"));  // the other costs more than on-demand
  claim.requirements.push_back(one_of("karpenter.sh/capacity-type", {"on-demand"}));
  made = plan();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->capacity_type, "on-demand");
  EXPECT_THAT(types_of(*made), ElementsAre("m5.large", "m6i.large"));
}

TEST_F(LaunchPlanTest, WhatHasNoRoomIsLeftOut) {
  claim.requests = {{"cpu", model::Quantity::from_units(30)}};
  const auto made = plan();
  ASSERT_TRUE(made);
  EXPECT_THAT(types_of(*made), Not(testing::Contains("m5.large")));
  EXPECT_THAT(types_of(*made), testing::Contains("c5.9xlarge"));
}

TEST_F(LaunchPlanTest, MetalAndAcceleratorsAreForThoseWhoAsk) {
  auto made = plan();
  ASSERT_TRUE(made);
  for (const auto* exotic : {"c5.metal", "g4dn.xlarge", "inf2.8xlarge", "p4d.24xlarge"}) {
    EXPECT_THAT(types_of(*made), Not(testing::Contains(exotic)));
  }
  claim.requests = {{"nvidia.com/gpu", model::Quantity::from_units(1)}};
  made = plan();
  ASSERT_TRUE(made);
  EXPECT_THAT(types_of(*made), testing::Contains("g4dn.xlarge"));
  claim.requests = {};
  claim.requirements = {one_of("node.kubernetes.io/instance-type", {"m5.large", "c5.metal"})};
  claim.requirements[0].min_values = 2;
  made = plan();
  ASSERT_TRUE(made);
  EXPECT_THAT(types_of(*made), ElementsAre("c5.metal", "m5.large"));
}

TEST_F(LaunchPlanTest, ArchitecturesAndPodCountsGetTemplatesOfTheirOwn) {
  claim.requirements = {
      one_of("node.kubernetes.io/instance-type", {"m5.large", "t4g.small", "c6gn.xlarge"})};
  const auto made = plan();
  ASSERT_TRUE(made);
  std::vector<std::string> groups;
  for (const auto& group : made->groups) {
    groups.push_back(group.image_id + " " + std::to_string(group.max_pods));
  }
  EXPECT_THAT(groups, ElementsAre("ami-amd 29", "ami-arm 11", "ami-arm 58"));
}

TEST_F(LaunchPlanTest, TheSubnetWithMostFreeAddressesIsTaken) {
  auto status = found_status();
  status.at("subnets").as_array().push_back(
      {{"id", "subnet-a2"}, {"zone", "us-west-2a"}, {"zoneID", "usw2-az2"}});
  the_class = node_class({{"amiFamily", "AL2023"}}, status);
  free = {{"subnet-a", 5}, {"subnet-a2", 9}};
  claim.requirements = {one_of("topology.kubernetes.io/zone", {"us-west-2a"}),
                        one_of("node.kubernetes.io/instance-type", {"m5.large"})};
  EXPECT_EQ(plan()->groups[0].options[0].subnet, "subnet-a2");
  free = {{"subnet-a", 5}, {"subnet-a2", 4}};
  EXPECT_EQ(plan()->groups[0].options[0].subnet, "subnet-a");
}

TEST_F(LaunchPlanTest, NothingToBuyIsACapacityErrorThatNamesTheWish) {
  claim.meta.name = "web-1";
  claim.requirements = {one_of("topology.kubernetes.io/zone", {"mars-1a"})};
  const auto made = plan();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, base::ErrorKind::NoCapacity);
  EXPECT_THAT(made.error().message, HasSubstr("NodeClaim web-1"));
  EXPECT_THAT(made.error().message, HasSubstr("mars-1a"));
}

TEST_F(LaunchPlanTest, SixtyTypesAtMostTheCheapest) {
  std::vector<TypeFacts> many;
  ZonesByType zones;
  PriceTable prices;
  for (int i = 0; i < 100; ++i) {
    TypeFacts type{.name = "m" + std::to_string(i) + ".large",
                   .arch = "amd64",
                   .cpus = 2,
                   .memory_mib = 8192,
                   .interfaces = 3,
                   .addresses = 10,
                   .has_on_demand = true};
    zones[type.name] = {"us-west-2a"};
    prices[type.name] = 1.0 + i;
    many.push_back(std::move(type));
  }
  catalog.set_types(many);
  catalog.set_zones(zones);
  catalog.prices().set_on_demand(prices);
  const auto made = plan();
  ASSERT_TRUE(made);
  EXPECT_EQ(types_of(*made).size(), 60U);
  EXPECT_EQ(made->groups[0].options.back().price, 60.0);
}

TEST_F(LaunchPlanTest, ConnectionsAreTrackedAsToldByNitroAlone) {
  claim.requirements = {
      one_of("node.kubernetes.io/instance-type", {"m4.large", "m5.large", "c5.metal"})};
  claim.requirements[0].min_values = 1;  // keeps bare metal
  EXPECT_THAT(types_of(*plan()), ElementsAre("c5.metal", "m4.large", "m5.large"));
  the_class = node_class({{"amiFamily", "AL2023"}, {"connectionTracking", {{"udpTimeout", 45}}}});
  EXPECT_THAT(types_of(*plan()), ElementsAre("c5.metal", "m5.large"));
}

TEST_F(LaunchPlanTest, DedicatedTenancyIsForThoseWhoWantNothingElse) {
  EXPECT_FALSE(plan()->dedicated);
  claim.requirements = {one_of("karpenter.k8s.aws/instance-tenancy", {"dedicated"})};
  EXPECT_TRUE(plan()->dedicated);
}

// --- requests ---

LaunchPlan two_options(std::string capacity_type) {
  LaunchPlan plan;
  plan.capacity_type = std::move(capacity_type);
  plan.groups.push_back(
      {.image_id = "ami-04681a1dbd79675a5",
       .max_pods = 29,
       .options = {{"m5.large", "us-west-2a", "subnet-d945f1aef8c4fd88a", 0.096},
                   {"m5.large", "us-west-2b", "subnet-2039b6c77603824d6", 0.096}}});
  return plan;
}

// As botocore serialises the same call.
TEST(FleetRequest, IsWhatBotocoreWouldSend) {
  const auto plan = two_options("spot");
  const auto form = fleet_form({.plan = plan,
                                .templates = {"karpenter.k8s.aws/42"},
                                .tags = {{"karpenter.sh/nodepool", "default"}},
                                .context = "ctx",
                                .client_token = "fdd05dbb-c609-430e-b4ab-0b595d06e19a"});
  EXPECT_EQ(form.body(),
            "Action=CreateFleet&Version=2016-11-15&Type=instant&Context=ctx"
            "&LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName="
            "karpenter.k8s.aws%2F42"
            "&LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version=%24Latest"
            "&LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large"
            "&LaunchTemplateConfigs.1.Overrides.1.SubnetId=subnet-d945f1aef8c4fd88a"
            "&LaunchTemplateConfigs.1.Overrides.1.AvailabilityZone=us-west-2a"
            "&LaunchTemplateConfigs.1.Overrides.1.ImageId=ami-04681a1dbd79675a5"
            "&LaunchTemplateConfigs.1.Overrides.1.Priority=0.096"
            "&LaunchTemplateConfigs.1.Overrides.2.InstanceType=m5.large"
            "&LaunchTemplateConfigs.1.Overrides.2.SubnetId=subnet-2039b6c77603824d6"
            "&LaunchTemplateConfigs.1.Overrides.2.AvailabilityZone=us-west-2b"
            "&LaunchTemplateConfigs.1.Overrides.2.ImageId=ami-04681a1dbd79675a5"
            "&LaunchTemplateConfigs.1.Overrides.2.Priority=0.096"
            "&TargetCapacitySpecification.TotalTargetCapacity=1"
            "&TargetCapacitySpecification.DefaultTargetCapacityType=spot"
            "&SpotOptions.AllocationStrategy=price-capacity-optimized"
            "&TagSpecification.1.ResourceType=instance"
            "&TagSpecification.1.Tag.1.Key=karpenter.sh%2Fnodepool"
            "&TagSpecification.1.Tag.1.Value=default"
            "&TagSpecification.2.ResourceType=volume"
            "&TagSpecification.2.Tag.1.Key=karpenter.sh%2Fnodepool"
            "&TagSpecification.2.Tag.1.Value=default"
            "&TagSpecification.3.ResourceType=fleet"
            "&TagSpecification.3.Tag.1.Key=karpenter.sh%2Fnodepool"
            "&TagSpecification.3.Tag.1.Value=default"
            "&ClientToken=fdd05dbb-c609-430e-b4ab-0b595d06e19a");
}

TEST(FleetRequest, OnDemandTakesTheLowestPrice) {
  const auto plan = two_options("on-demand");
  EXPECT_THAT(fleet_form({.plan = plan, .templates = {"t"}}).body(),
              HasSubstr("&OnDemandOptions.AllocationStrategy=lowest-price"));
}

TEST(FleetAnswer, HasTheInstanceAndWhatFailed) {
  const auto root = parse_xml(
      "<CreateFleetResponse><fleetInstanceSet><item><launchTemplateAndOverrides><overrides>"
      "<instanceType>m5.large</instanceType><subnetId>subnet-1</subnetId>"
      "<availabilityZone>us-west-2a</availabilityZone></overrides></launchTemplateAndOverrides>"
      "<lifecycle>spot</lifecycle><instanceIds><item>i-2</item><item>i-1</item></instanceIds>"
      "<instanceType>m5.large</instanceType></item></fleetInstanceSet><errorSet><item>"
      "<launchTemplateAndOverrides><overrides><instanceType>c5.large</instanceType>"
      "<availabilityZone>us-west-2b</availabilityZone></overrides></launchTemplateAndOverrides>"
      "<errorCode>InsufficientInstanceCapacity</errorCode><errorMessage>none</errorMessage>"
      "</item></errorSet></CreateFleetResponse>");
  const auto answer = read_fleet(*root);
  ASSERT_EQ(answer.instances.size(), 2U);
  EXPECT_EQ(answer.instances[1].id, "i-2");
  EXPECT_EQ(answer.instances[0].id, "i-1");
  EXPECT_EQ(answer.instances[0].type, "m5.large");
  EXPECT_EQ(answer.instances[0].zone, "us-west-2a");
  EXPECT_EQ(answer.instances[0].subnet, "subnet-1");
  ASSERT_EQ(answer.errors.size(), 1U);
  EXPECT_EQ(answer.errors[0].code, "InsufficientInstanceCapacity");
  EXPECT_EQ(answer.errors[0].type, "c5.large");
  EXPECT_EQ(answer.errors[0].zone, "us-west-2b");
}

std::string template_body(const boost::json::value& spec, std::string capacity_type = "on-demand",
                          std::int64_t efa = 0) {
  const auto the_class = node_class(spec);
  const auto read = read_spec(*the_class);
  auto plan = two_options(std::move(capacity_type));
  plan.groups[0].efa_interfaces = efa;
  Boot boot;
  boot.cluster.service_cidr = "10.100.0.0/16";
  boot.family = read.family;
  boot.user_data = read.user_data;
  const auto made = launch_template_for(read, read_status(*the_class), plan, plan.groups[0], boot,
                                        {{"karpenter.sh/nodepool", "default"}});
  return made ? made->form.body() : made.error().message;
}

TEST(LaunchTemplate, CarriesEverythingOfTheClass) {
  const auto body = template_body(
      {{"amiFamily", "Custom"},
       {"userData", "#!/bin/bash"},
       {"blockDeviceMappings", boost::json::array{{{"deviceName", "/dev/xvda"},
                                                   {"ebs",
                                                    {{"volumeSize", "20.5Gi"},
                                                     {"volumeType", "gp3"},
                                                     {"iops", 4000},
                                                     {"throughput", 200},
                                                     {"encrypted", true},
                                                     {"kmsKeyID", "key"},
                                                     {"deleteOnTermination", false},
                                                     {"snapshotID", "snap-1"}}}}}},
       {"detailedMonitoring", true},
       {"metadataOptions", {{"httpPutResponseHopLimit", 2}, {"httpTokens", "optional"}}},
       {"cpuOptions", {{"nestedVirtualization", "enabled"}}},
       {"associatePublicIPAddress", false}});
  for (const auto* part :
       {"&TagSpecification.1.ResourceType=launch-template",
        "&LaunchTemplateData.BlockDeviceMapping.1.DeviceName=%2Fdev%2Fxvda"
        "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeSize=21"
        "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeType=gp3"
        "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.Encrypted=true"
        "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.DeleteOnTermination=false"
        "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.Iops=4000"
        "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.Throughput=200"
        "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.KmsKeyId=key"
        "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.SnapshotId=snap-1"
        "&LaunchTemplateData.IamInstanceProfile.Name=profile-1"
        "&LaunchTemplateData.Monitoring.Enabled=true"
        "&LaunchTemplateData.UserData=IyEvYmluL2Jhc2g%3D"
        "&LaunchTemplateData.ImageId=ami-04681a1dbd79675a5"
        "&LaunchTemplateData.MetadataOptions.HttpEndpoint=enabled"
        "&LaunchTemplateData.MetadataOptions.HttpProtocolIpv6=disabled"
        "&LaunchTemplateData.MetadataOptions.HttpPutResponseHopLimit=2"
        "&LaunchTemplateData.MetadataOptions.HttpTokens=optional"
        "&LaunchTemplateData.MetadataOptions.InstanceMetadataTags=disabled"
        "&LaunchTemplateData.NetworkInterface.1.DeviceIndex=0"
        "&LaunchTemplateData.NetworkInterface.1.SecurityGroupId.1=sg-1"
        "&LaunchTemplateData.NetworkInterface.1.AssociatePublicIpAddress=false"
        "&LaunchTemplateData.CpuOptions.NestedVirtualization=enabled"
        "&LaunchTemplateData.CapacityReservationSpecification.CapacityReservationPreference=none"
        "&LaunchTemplateData.TagSpecification.1.ResourceType=network-interface"}) {
    EXPECT_THAT(body, HasSubstr(part));
  }
  EXPECT_THAT(body, Not(HasSubstr("spot-instances-request")));
}

TEST(LaunchTemplate, DefaultsComeFromTheFamily) {
  const auto body = template_body({{"amiFamily", "Bottlerocket"}}, "spot");
  EXPECT_THAT(body, HasSubstr("BlockDeviceMapping.2.DeviceName=%2Fdev%2Fxvdb"));
  EXPECT_THAT(body, HasSubstr("MetadataOptions.HttpTokens=required"));
  EXPECT_THAT(body, HasSubstr("&LaunchTemplateData.SecurityGroupId.1=sg-1"));
  EXPECT_THAT(body, Not(HasSubstr("NetworkInterface.1")));
  EXPECT_THAT(body, HasSubstr("ResourceType=spot-instances-request"));
}

TEST(LaunchTemplate, EfaNodesGetAnInterfaceOnEachCard) {
  const auto body = template_body({{"amiFamily", "AL2023"}}, "on-demand", 2);
  EXPECT_THAT(body, HasSubstr("NetworkInterface.1.InterfaceType=efa"
                              "&LaunchTemplateData.NetworkInterface.1.NetworkCardIndex=0"));
  EXPECT_THAT(body, HasSubstr("NetworkInterface.2.DeviceIndex=1"));
  EXPECT_THAT(body, HasSubstr("NetworkInterface.2.NetworkCardIndex=1"));
}

TEST(LaunchTemplate, EachInterfaceTracksConnectionsAsTheClassSays) {
  const boost::json::value tracking{
      {"tcpEstablishedTimeout", 600}, {"udpStreamTimeout", 120}, {"udpTimeout", 45}};
  const auto body = template_body({{"amiFamily", "AL2023"}, {"connectionTracking", tracking}});
  const std::string specification = ".ConnectionTrackingSpecification.";
  EXPECT_THAT(body, HasSubstr("NetworkInterface.1" + specification + "TcpEstablishedTimeout=600"));
  EXPECT_THAT(body, HasSubstr("NetworkInterface.1" + specification + "UdpStreamTimeout=120"));
  EXPECT_THAT(body, HasSubstr("NetworkInterface.1" + specification + "UdpTimeout=45"));
  const auto cards = template_body(
      {{"amiFamily", "AL2023"}, {"connectionTracking", boost::json::object{{"udpTimeout", 45}}}},
      "on-demand", 2);
  EXPECT_THAT(cards, HasSubstr("NetworkInterface.2" + specification + "UdpTimeout=45"));
  EXPECT_THAT(cards, Not(HasSubstr("TcpEstablishedTimeout")));
  boost::json::array interfaces;
  for (const std::string type : {"interface", "efa-only"}) {
    interfaces.push_back(
        {{"networkCardIndex", 0}, {"deviceIndex", interfaces.size()}, {"interfaceType", type}});
  }
  const auto efa_only = template_body({{"amiFamily", "AL2023"},
                                       {"connectionTracking", tracking},
                                       {"networkInterfaces", interfaces}});
  EXPECT_THAT(efa_only, HasSubstr("NetworkInterface.1" + specification));
  EXPECT_THAT(efa_only, Not(HasSubstr("NetworkInterface.2" + specification)));
}

TEST(LaunchTemplate, IsNamedByItsContent) {
  const auto name = [](const std::string& body) {
    const auto at = body.find("LaunchTemplateName=") + 19;
    return body.substr(at, body.find('&', at) - at);
  };
  const auto first = name(template_body({{"amiFamily", "AL2023"}}));
  EXPECT_THAT(first, testing::StartsWith("karpenter.k8s.aws%2F"));
  EXPECT_EQ(name(template_body({{"amiFamily", "AL2023"}})), first);
  EXPECT_NE(name(template_body({{"amiFamily", "AL2023"}, {"userData", "x"}})), first);
}

}  // namespace
}  // namespace millwright::cloud::aws
