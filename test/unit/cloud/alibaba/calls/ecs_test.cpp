#include "cloud/alibaba/calls/ecs.hpp"

#include "support/records.hpp"
#include "unit/cloud/alibaba/fakes/fake_cloud.hpp"

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

class AlibabaEcsTest : public FakeCloudTest {};

constexpr const char* kType = R"({"InstanceTypeId":"ecs.g7.large","InstanceTypeFamily":"ecs.g7",
  "CpuArchitecture":"X86","CpuCoreCount":2,"MemorySize":8.0,"EniQuantity":3,
  "EniPrivateIpAddressQuantity":6,"EniTotalQuantity":10,"EniTrunkSupported":true,"GPUAmount":0,
  "GPUSpec":"","PhysicalProcessorModel":"Intel(R) Xeon(R) Platinum 8369B"})";

TEST_F(AlibabaEcsTest, TypesAreReadPageByPage) {
  on("DescribeInstanceTypes",
     {std::string(R"({"InstanceTypes":{"InstanceType":[)") + kType + R"(]},"NextToken":"n2"})",
      R"({"InstanceTypes":{"InstanceType":[{"InstanceTypeId":"ecs.gn6i-c4g1.xlarge",
        "InstanceTypeFamily":"ecs.gn6i","CpuArchitecture":"ARM","CpuCoreCount":4,"MemorySize":15.5,
        "GPUAmount":1,"GPUSpec":"NVIDIA T4","GPUMemorySize":16}]},"NextToken":""})"});
  const auto types = wait(loop, ecs.instance_types()).value();
  ASSERT_EQ(types.size(), 2U);
  EXPECT_EQ(types[0].name, "ecs.g7.large");
  EXPECT_EQ(types[0].memory_mib, 8192);
  EXPECT_EQ(types[0].arch, "amd64");
  EXPECT_EQ(types[0].addresses_per_eni, 6);
  EXPECT_TRUE(types[0].has_trunk);
  EXPECT_EQ(types[1].arch, "arm64");
  EXPECT_EQ(types[1].memory_mib, 15872);
  EXPECT_EQ(types[1].gpu_memory_mib, 16384);
  EXPECT_EQ(parameter(asked("DescribeInstanceTypes")[1], "NextToken"), "n2");
}

TEST_F(AlibabaEcsTest, StockIsWhatIsLeftEvenIfItIsNotRefilledAndWhatWillBe) {
  on("DescribeAvailableResource", {R"({"AvailableZones":{"AvailableZone":[
    {"ZoneId":"cn-hangzhou-h","AvailableResources":{"AvailableResource":[{"Type":"InstanceType",
      "SupportedResources":{"SupportedResource":[
        {"Value":"ecs.g7.large","Status":"Available","StatusCategory":"WithStock"},
        {"Value":"ecs.c7.large","Status":"Available","StatusCategory":"ClosedWithStock"},
        {"Value":"ecs.r7.large","Status":"SoldOut","StatusCategory":"WithoutStock"},
        {"Value":"ecs.u1.large","Status":"SoldOut","StatusCategory":"ClosedWithoutStock"}]}}]}},
    {"ZoneId":"cn-hangzhou-i","AvailableResources":{"AvailableResource":[]}}]}})"});
  const auto stock = wait(loop, ecs.stock(true)).value();
  EXPECT_THAT(stock, ElementsAre(Pair("ecs.c7.large", ElementsAre(Pair("cn-hangzhou-h", true))),
                                 Pair("ecs.g7.large", ElementsAre(Pair("cn-hangzhou-h", true))),
                                 Pair("ecs.r7.large", ElementsAre(Pair("cn-hangzhou-h", false)))));
  EXPECT_EQ(parameter(asked("DescribeAvailableResource")[0], "SpotStrategy"), "SpotAsPriceGo");
}

TEST_F(AlibabaEcsTest, TheLatestSpotPriceOfEachZoneCounts) {
  on("DescribeSpotPriceHistory", {R"({"SpotPrices":{"SpotPriceType":[
       {"InstanceType":"t","ZoneId":"z1","SpotPrice":0.2,"OriginPrice":1,"Timestamp":"2026-01-01T22:00:00Z"},
       {"InstanceType":"t","ZoneId":"z1","SpotPrice":0.1,"OriginPrice":1,"Timestamp":"2026-01-01T23:00:00Z"}]},
       "NextOffset":2})",
                                  R"({"SpotPrices":{"SpotPriceType":[
       {"InstanceType":"t","ZoneId":"z1","SpotPrice":0.3,"OriginPrice":1,"Timestamp":"2026-01-01T21:00:00Z"},
       {"InstanceType":"t","ZoneId":"z2","SpotPrice":0.4,"OriginPrice":1,"Timestamp":"2026-01-01T21:00:00Z"}]},
       "NextOffset":0})"});
  const auto prices = wait(loop, ecs.spot_prices("t")).value();
  EXPECT_THAT(prices.spot, ElementsAre(Pair("z1", 0.1), Pair("z2", 0.4)));
  EXPECT_EQ(prices.on_demand, 1.0);
  EXPECT_EQ(parameter(asked("DescribeSpotPriceHistory")[1], "Offset"), "2");
}

TEST_F(AlibabaEcsTest, AnOnDemandPriceMayBeAbsent) {
  on("DescribePrice", {R"({"PriceInfo":{"Price":{"OriginalPrice":0.5,"TradePrice":0.4}}})",
                       R"({"PriceInfo":{"Price":{"OriginalPrice":0}}})", R"({"PriceInfo":{}})"});
  EXPECT_EQ(wait(loop, ecs.on_demand_price("t")).value(), 0.5);
  EXPECT_EQ(wait(loop, ecs.on_demand_price("t")).value(), std::nullopt);
  EXPECT_FALSE(wait(loop, ecs.on_demand_price("t")));
}

TEST_F(AlibabaEcsTest, VSwitchesAreAskedOfVpcByTagsOfAnyValue) {
  on("DescribeVSwitches", {R"({"VSwitches":{"VSwitch":[
     {"VSwitchId":"vsw-1","ZoneId":"z1","AvailableIpAddressCount":250,"Status":"Available"},
     {"VSwitchId":"vsw-2","ZoneId":"z2","AvailableIpAddressCount":0,"Status":"Pending"}]},
     "TotalCount":2})"});
  const auto found = wait(loop, ecs.vswitches("", {{"a", "*"}, {"b", "c"}})).value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].free_addresses, 250);
  const auto request = asked("DescribeVSwitches").at(0);
  EXPECT_THAT(request.url, HasSubstr("https://vpc.cn-hangzhou.aliyuncs.com/"));
  EXPECT_THAT(request.url, Not(HasSubstr("Tag.1.Value")));
  EXPECT_EQ(parameter(request, "Tag.2.Value"), "c");
}

TEST_F(AlibabaEcsTest, AnInstanceIsReadWithItsLocksAndTags) {
  on("DescribeInstances", {R"({"Instances":{"Instance":[{"InstanceId":"i-1",
    "InstanceType":"ecs.g7.large","ZoneId":"z1","Status":"Running","ImageId":"m-1",
    "SpotStrategy":"SpotAsPriceGo","CreationTime":"2026-01-02T03:04Z",
    "VpcAttributes":{"VSwitchId":"vsw-1","PrivateIpAddress":{"IpAddress":["10.0.0.7"]}},
    "SecurityGroupIds":{"SecurityGroupId":["sg-2","sg-1"]},
    "Tags":{"Tag":[{"TagKey":"karpenter.sh/nodepool","TagValue":"p"}]},
    "OperationLocks":{"LockReason":[{"LockReason":"Recycling"}]}}]}})"});
  const auto found = wait(loop, ecs.instances_by_id({"i-1"})).value();
  ASSERT_EQ(found.size(), 1U);
  const auto& instance = found[0];
  EXPECT_EQ(instance.capacity_type(), "spot");
  EXPECT_EQ(instance.vswitch_id, "vsw-1");
  EXPECT_EQ(instance.private_address, "10.0.0.7");
  EXPECT_THAT(instance.security_groups, ElementsAre("sg-1", "sg-2"));
  EXPECT_EQ(instance.tag("karpenter.sh/nodepool"), "p");
  EXPECT_TRUE(instance.is_recycling);
  EXPECT_EQ(base::format_rfc3339(instance.created_at.value()), "2026-01-02T03:04:00Z");
  EXPECT_EQ(parameter(asked("DescribeInstances")[0], "InstanceIds"), "[\"i-1\"]");
}

TEST_F(AlibabaEcsTest, AHundredIdsGoInOneCall) {
  on("DescribeInstances", {R"({"Instances":{"Instance":[]}})"});
  std::vector<std::string> ids(101, "i-x");
  EXPECT_TRUE(wait(loop, ecs.instances_by_id(ids)));
  EXPECT_EQ(asked("DescribeInstances").size(), 2U);
}

TEST_F(AlibabaEcsTest, AGroupAnswersInstancesOrReasons) {
  on("CreateAutoProvisioningGroup", {R"({"LaunchResults":{"LaunchResult":[
    {"InstanceType":"ecs.g7.large","ZoneId":"z1","SpotStrategy":"NoSpot",
     "ErrorCode":"NoInstanceStock","ErrorMsg":"none left"},
    {"InstanceType":"ecs.c7.large","ZoneId":"z2","SpotStrategy":"SpotAsPriceGo",
     "InstanceIds":{"InstanceId":["i-9"]}}]},"AutoProvisioningGroupId":"apg-1"})"});
  const auto launches = wait(loop, ecs.create_group({})).value();
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].error_code, "NoInstanceStock");
  EXPECT_THAT(launches[1].instance_ids, ElementsAre("i-9"));
  EXPECT_TRUE(launches[1].is_spot);
}

TEST_F(AlibabaEcsTest, ARunAnswersItsInstance) {
  on("RunInstances",
     {R"({"InstanceIdSets":{"InstanceIdSet":["i-1"]}})", R"({"InstanceIdSets":{}})"});
  EXPECT_EQ(wait(loop, ecs.run_instance({})).value(), "i-1");
  EXPECT_EQ(wait(loop, ecs.run_instance({})).error().kind, ErrorKind::Unavailable);
}

TEST_F(AlibabaEcsTest, HostileAnswersAreErrorsAndNotValues) {
  for (const std::string body :
       {R"({})", R"({"Instances":[]})", R"({"Instances":"x"})", R"({"Instances":{"Instance":{}}})",
        R"({"Instances":{"Instance":[{}]}})", R"({"Instances":{"Instance":[null]}})",
        R"({"Instances":{"Instance":[{"InstanceId":7}]}})",
        R"({"Instances":{"Instance":[{"InstanceId":"i","Tags":[]}]}})",
        R"({"Instances":{"Instance":[{"InstanceId":"i","Tags":{"Tag":[{}]}}]}})",
        R"({"Instances":{"Instance":[{"InstanceId":"i","Status":[]}]}})"}) {
    on("DescribeInstances", {body});
    const auto found = wait(loop, ecs.instances_by_tags({{"a", "b"}}));
    ASSERT_FALSE(found) << body;
    EXPECT_EQ(found.error().kind, ErrorKind::Unavailable) << body;
    EXPECT_THAT(found.error().message, HasSubstr("ecs DescribeInstances: the answer is not as"));
  }
  for (const std::string number : {"-1", "1e300", "\"2\"", "[]", "true"}) {
    on("DescribeInstanceTypes",
       {R"({"InstanceTypes":{"InstanceType":[{"InstanceTypeId":"t","InstanceTypeFamily":"f",)"
        R"("CpuCoreCount":)" +
        number + "}]}}"});
    EXPECT_FALSE(wait(loop, ecs.instance_types())) << number;
  }
}

TEST_F(AlibabaEcsTest, ATypeThatCannotBeReadHidesNoOther) {
  const auto records = std::make_shared<test::Records>();
  Api telling({.loop = loop,
               .client = http,
               .endpoints = endpoints,
               .credentials = credentials,
               .log = base::Logger(records, "ecs"),
               .seed = 1});
  Ecs asked_twice(telling);
  on("DescribeInstanceTypes",
     {std::string(R"({"InstanceTypes":{"InstanceType":[null,{"InstanceTypeId":"odd",)"
                  R"("InstanceTypeFamily":"f","CpuCoreCount":"2"},)") +
      kType + "]}}"});
  for (int i = 0; i < 2; ++i) {
    const auto types = wait(loop, asked_twice.instance_types());
    ASSERT_TRUE(types) << types.error().message;
    ASSERT_EQ(types->size(), 1U);
    EXPECT_EQ(types->front().name, "ecs.g7.large");
    EXPECT_EQ(asked_twice.unread_types(), 2U);
  }
  const auto text = records->text();
  const auto warned = text.find("call=DescribeInstanceTypes items=2");
  EXPECT_NE(warned, std::string::npos) << text;
  EXPECT_EQ(text.find("items=2", warned + 30), std::string::npos) << "once";
}

TEST_F(AlibabaEcsTest, StockThatCannotBeReadHidesNoOther) {
  on("DescribeAvailableResource", {R"({"AvailableZones":{"AvailableZone":[
    {"ZoneId":7,"AvailableResources":{"AvailableResource":[]}},
    {"ZoneId":"z1","AvailableResources":{"AvailableResource":[3,{"SupportedResources":7},
      {"SupportedResources":{"SupportedResource":[
        {"Value":{},"StatusCategory":"WithStock"},{"Value":"b","StatusCategory":[]},
        {"Value":"a","StatusCategory":"WithStock"}]}}]}}]}})"});
  const auto stock = wait(loop, ecs.stock(false));
  ASSERT_TRUE(stock) << stock.error().message;
  EXPECT_THAT(*stock, ElementsAre(Pair("a", ElementsAre(Pair("z1", true))),
                                  Pair("b", ElementsAre(Pair("z1", false)))));
  on("DescribeAvailableResource", {R"({"AvailableZones":{"AvailableZone":[{"ZoneId":7}]}})"});
  EXPECT_EQ(wait(loop, ecs.stock(false)).error().kind, ErrorKind::Unavailable) << "nothing read";
}

TEST_F(AlibabaEcsTest, ASpotPriceThatCannotBeReadHidesNoOther) {
  on("DescribeSpotPriceHistory", {R"({"SpotPrices":{"SpotPriceType":[
    {"ZoneId":"z1","SpotPrice":"0.1","OriginPrice":9,"Timestamp":"2026-01-01T23:00:00Z"},
    {"ZoneId":"z2","SpotPrice":0.2,"OriginPrice":1,"Timestamp":"2026-01-01T21:00:00Z"}]}})"});
  const auto prices = wait(loop, ecs.spot_prices("t"));
  ASSERT_TRUE(prices) << prices.error().message;
  EXPECT_THAT(prices->spot, ElementsAre(Pair("z2", 0.2)));
  EXPECT_EQ(prices->on_demand, 1.0);
}

// Left out, it would count as one that is gone.
TEST_F(AlibabaEcsTest, AListWithAnInstanceThatCannotBeReadIsRefused) {
  on("DescribeInstances", {R"({"Instances":{"Instance":[{"InstanceId":"i-1"},{}]}})"});
  EXPECT_EQ(wait(loop, ecs.instances_by_tags({{"a", "b"}})).error().kind, ErrorKind::Unavailable);
}

TEST_F(AlibabaEcsTest, PagesThatLeadInACircleEnd) {
  on("DescribeInstances", {R"({"Instances":{"Instance":[]},"NextToken":"same"})"});
  const auto found = wait(loop, ecs.instances_by_tags({}));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("leads to the same page"));
}

}  // namespace
}  // namespace millwright::cloud::alibaba
