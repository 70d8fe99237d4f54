// Placement groups: found, offered, launched into, full, left.
#include "millwright/model/conditions.hpp"
#include "provider_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

const std::string kGroupLabelText(kPlacementGroupLabel);
const std::string kPartitionLabelText(kPartitionLabel);

std::string group(const std::string& id, const std::string& name, const std::string& strategy,
                  int partitions = 0) {
  return "<item><groupName>" + name + "</groupName><groupId>" + id + "</groupId><strategy>" +
         strategy + "</strategy><state>available</state>" +
         (partitions == 0 ? ""
                          : "<partitionCount>" + std::to_string(partitions) + "</partitionCount>") +
         "</item>";
}

class PlacementTest : public ProviderTest {
 protected:
  PlacementTest() {
    ec2.aws.on("DescribeSubnets",
               "<R><subnetSet><item><subnetId>subnet-a</subnetId><availabilityZone>us-west-2a"
               "</availabilityZone></item><item><subnetId>subnet-b</subnetId><availabilityZone>"
               "us-west-2b</availabilityZone></item></subnetSet></R>");
    ec2.aws.on(
        "DescribeSecurityGroups",
        "<R><securityGroupInfo><item><groupId>sg-1</groupId></item></securityGroupInfo></R>");
    ec2.aws.on("DescribeImages",
               "<R><imagesSet><item><imageId>ami-amd</imageId><architecture>x86_64</architecture>"
               "</item></imagesSet></R>");
    ec2.aws.on("DescribePlacementGroups",
               [this](const Asked& asked) -> base::Result<net::Response> {
                 if (!refusal.empty()) {
                   return ec2_error(refusal, refusal == "UnauthorizedOperation" ? 403 : 503);
                 }
                 const auto name = asked.field("GroupName.1");
                 const auto found = there.find(name.empty() ? asked.field("GroupId.1") : name);
                 if (found == there.end()) {
                   return ec2_error("InvalidPlacementGroup.Unknown");
                 }
                 return xml("<R><placementGroupSet>" + found->second + "</placementGroupSet></R>");
               });
  }

  boost::json::value spec() const {
    boost::json::object result{
        {"amiFamily", "AL2023"},
        {"instanceProfile", "profile-1"},
        {"amiSelectorTerms", boost::json::array{{{"id", "ami-amd"}}}},
        {"subnetSelectorTerms", boost::json::array{{{"tags", {{"a", "b"}}}}}},
        {"securityGroupSelectorTerms", boost::json::array{{{"id", "sg-1"}}}}};
    if (!selector.empty()) {
      result["placementGroupSelector"] = selector;
    }
    return result;
  }
  // As the nodeclass controller: what resolve() says becomes the object's status.
  base::Result<NodeClassState> resolve() {
    auto state = wait(loop, cloud->resolve(node_class(spec(), boost::json::object{})));
    if (state) {
      the_class = node_class(spec(), state->status);
    }
    return state;
  }
  // "True", "<reason>: <message>" or "absent".
  static std::string verdict(const NodeClassState& state) {
    for (const auto& each : state.conditions) {
      if (each.type == "PlacementGroupReady") {
        return each.good ? std::string("True") : each.reason + ": " + each.message;
      }
    }
    return "absent";
  }
  scheduling::InstanceType type(const std::string& name) {
    return *scheduling::find_type(*cloud->instance_types({}, *the_class), name);
  }
  // "us-west-2a 1", the zones and partitions in which the type can be had on demand.
  std::vector<std::string> on_sale(const std::string& name) {
    std::vector<std::string> result;
    for (const auto& each : type(name).offerings) {
      const auto* partition = each.requirements.find(kPartitionLabel);
      if (each.available && each.capacity_type() == model::kOnDemand) {
        result.push_back(std::string(each.zone()) +
                         (partition == nullptr ? "" : " " + partition->values().front()));
      }
    }
    return result;
  }
  static std::shared_ptr<model::NodeClaim> claim_in(const std::string& name,
                                                    std::vector<std::string> partitions) {
    auto claim = claim_named(name);
    claim->requirements.push_back(
        {.key = kPartitionLabelText, .op = model::Operator::In, .values = std::move(partitions)});
    return claim;
  }
  std::string launch_template() const { return ec2.aws.calls("CreateLaunchTemplate").back().body; }

  std::map<std::string, std::string> there{{"near", group("pg-near", "near", "cluster")},
                                           {"pg-near", group("pg-near", "near", "cluster")},
                                           {"racks", group("pg-racks", "racks", "partition", 3)},
                                           {"apart", group("pg-apart", "apart", "spread")}};
  std::string refusal;
  boost::json::object selector{{"name", "near"}};
};

TEST_F(PlacementTest, IsLookedUpByNameOrId) {
  EXPECT_EQ(verdict(*resolve()), "True");
  selector = {{"id", "pg-near"}};
  EXPECT_EQ(verdict(*resolve()), "True");
  const auto calls = ec2.aws.calls("DescribePlacementGroups");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].field("GroupName.1"), "near");
  EXPECT_EQ(calls[0].field("GroupId.1"), "");
  EXPECT_EQ(calls[0].filter("state"), "available");
  EXPECT_EQ(calls[1].field("GroupName.1"), "");
  EXPECT_EQ(calls[1].field("GroupId.1"), "pg-near");
  // As with Karpenter, the status has no field for it.
  EXPECT_FALSE(the_class->status.as_object().contains("placementGroups"));
}

TEST_F(PlacementTest, WithoutASelectorNobodyAsks) {
  selector = {};
  const auto state = resolve();
  EXPECT_EQ(verdict(*state), "absent");
  EXPECT_TRUE(ec2.aws.calls("DescribePlacementGroups").empty());
  ASSERT_TRUE(create(claim_named("a")));
  EXPECT_THAT(launch_template(), Not(HasSubstr("Placement")));
  EXPECT_EQ(type("m5.large").requirements.find(kPlacementGroupLabel)->op(),
            model::Operator::DoesNotExist);
}

TEST_F(PlacementTest, AnEarlierSelectorsConditionIsTakenBack) {
  selector = {};
  const auto before = node_class(spec(), boost::json::object{});
  model::ConditionSet(before->conditions, before->meta, {}, loop.now())
      .set_false("PlacementGroupReady", "PlacementGroupNotFound", "gone");
  const auto state = wait(loop, cloud->resolve(before));
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->ready);
  EXPECT_EQ(verdict(*state), "True");
}

TEST_F(PlacementTest, OneThatIsNotThereIsToldAndNothingIsBought) {
  selector = {{"name", "elsewhere"}};
  const auto state = resolve();
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->ready);
  EXPECT_EQ(state->reason, "PlacementGroupNotFound");
  EXPECT_THAT(verdict(*state), HasSubstr("spec.placementGroupSelector name \"elsewhere\""));
  EXPECT_THAT(verdict(*state), HasSubstr("InvalidPlacementGroup.Unknown"));
  EXPECT_THAT(verdict(*state), HasSubstr("request id"));
  EXPECT_TRUE(on_sale("m5.large").empty());
  const auto refused = create(claim_named("a"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("PlacementGroupReady"));
  EXPECT_TRUE(ec2.aws.calls("CreateFleet").empty());
}

TEST_F(PlacementTest, OneThatIsNotAvailableIsNotFoundEither) {
  there["near"] = "";
  EXPECT_THAT(verdict(*resolve()),
              HasSubstr("PlacementGroupNotFound: spec.placementGroupSelector name \"near\" selects "
                        "no available placement group"));
}

TEST_F(PlacementTest, AMissingPermissionIsACondition) {
  refusal = "UnauthorizedOperation";
  const auto state = resolve();
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->ready);
  EXPECT_THAT(verdict(*state), HasSubstr("PlacementGroupResolutionFailed: "));
  EXPECT_THAT(verdict(*state), HasSubstr("UnauthorizedOperation"));
}

TEST_F(PlacementTest, StandsForADayWhileEc2DoesNotAnswer) {
  resolve();
  refusal = "Unavailable";
  loop.run_for(23h);
  EXPECT_EQ(verdict(*resolve()), "True");
  EXPECT_FALSE(on_sale("m5.large").empty());
  loop.run_for(1h);
  const auto state = resolve();
  ASSERT_FALSE(state);
  EXPECT_THAT(state.error().message, HasSubstr("DescribePlacementGroups"));
}

TEST_F(PlacementTest, AfterARestartNothingStartsOutsideTheGroup) {
  resolve();
  crash();
  start();
  loop.run_for(1min);
  EXPECT_TRUE(on_sale("m5.large").empty());
  EXPECT_EQ(create(claim_named("a")).error().kind, ErrorKind::Unavailable);
  const auto changes = catalog_changes;
  resolve();
  EXPECT_GT(catalog_changes, changes);
  EXPECT_TRUE(create(claim_named("a")));
}

TEST_F(PlacementTest, InstancesStartInItAndSaySo) {
  resolve();
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at(kGroupLabelText), "pg-near");
  EXPECT_FALSE(made->labels.contains(kPartitionLabelText));
  EXPECT_THAT(launch_template(), HasSubstr("LaunchTemplateData.Placement.GroupId=pg-near"));
  EXPECT_THAT(launch_template(), Not(HasSubstr("PartitionNumber")));
  EXPECT_EQ(type("m5.large").requirements.find(kPlacementGroupLabel)->values(),
            std::vector<std::string>{"pg-near"});
  const auto read = wait(loop, cloud->get(made->provider_id));
  EXPECT_EQ(read->labels.at(kGroupLabelText), "pg-near");
  // Another group is another launch template.
  selector = {{"name", "apart"}};
  resolve();
  ASSERT_TRUE(create(claim_named("b")));
  EXPECT_EQ(ec2.templates.size(), 2U);
}

TEST_F(PlacementTest, TypesAreNarrowedByWhatTheStrategyTakes) {
  auto types = read_test_data("instance_types.xml");
  const std::string anchor = "<item><instanceType>t3.micro</instanceType>";
  const auto at = types.find(anchor);
  ASSERT_NE(at, std::string::npos);
  types.insert(at + anchor.size(),
               "<placementGroupInfo><supportedStrategies><item>partition</item><item>spread</item>"
               "</supportedStrategies></placementGroupInfo>");
  ec2.aws.on("DescribeInstanceTypes", types);
  crash();
  start();
  loop.run_for(1min);
  resolve();
  EXPECT_TRUE(on_sale("t3.micro").empty());
  EXPECT_THAT(on_sale("m5.large"), ElementsAre("us-west-2a", "us-west-2b"));
  selector = {{"name", "apart"}};
  resolve();
  EXPECT_THAT(on_sale("t3.micro"), ElementsAre("us-west-2a", "us-west-2b"));
}

TEST_F(PlacementTest, EachPartitionIsAnOffering) {
  selector = {{"name", "racks"}};
  resolve();
  EXPECT_THAT(on_sale("m5.large"), ElementsAre("us-west-2a 1", "us-west-2a 2", "us-west-2a 3",
                                               "us-west-2b 1", "us-west-2b 2", "us-west-2b 3"));
  EXPECT_THAT(type("m5.large").requirements.find(kPartitionLabel)->values(),
              ElementsAre("1", "2", "3"));
}

TEST_F(PlacementTest, Ec2ChoosesThePartitionAndTheClaimWaitsToBeTold) {
  selector = {{"name", "racks"}};
  ec2.partitions = 3;
  ec2.lag = 4s;
  resolve();
  const auto asked = loop.now();
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_GE(loop.now() - asked, 4s);
  EXPECT_THAT(launch_template(), Not(HasSubstr("PartitionNumber")));
  EXPECT_EQ(made->labels.at(kPartitionLabelText), "1");
  // Each zone is asked for once, not for each partition.
  EXPECT_FALSE(ec2.aws.only("CreateFleet")
                   .fields.contains("LaunchTemplateConfigs.1.Overrides.5.InstanceType"));
  EXPECT_TRUE(ec2.aws.only("CreateFleet")
                  .fields.contains("LaunchTemplateConfigs.1.Overrides.4.InstanceType"));
}

TEST_F(PlacementTest, AnInstanceThatEc2ShowsLateIsAskedForAgainNotLaunchedAgain) {
  selector = {{"name", "racks"}};
  ec2.partitions = 3;
  ec2.lag = 15s;
  resolve();
  const auto claim = claim_named("a");
  const auto early = create(claim);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().kind, ErrorKind::Unavailable);
  EXPECT_THAT(early.error().message, HasSubstr("does not show its partition yet"));
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at(kPartitionLabelText), "1");
  EXPECT_EQ(ec2.machines.size(), 1U);
}

TEST_F(PlacementTest, AClaimMayBeBoundToAPartition) {
  selector = {{"name", "racks"}};
  ec2.partitions = 3;
  resolve();
  const auto made = create(claim_in("a", {"2"}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at(kPartitionLabelText), "2");
  EXPECT_THAT(launch_template(), HasSubstr("Placement.PartitionNumber=2"));
  EXPECT_EQ(ec2.machines.front().partition, 2);
  const auto some = create(claim_in("b", {"1", "3"}));
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_THAT(some->labels.at(kPartitionLabelText), testing::AnyOf("1", "3"));
  EXPECT_EQ(create(claim_in("c", {"4"})).error().kind, ErrorKind::NoCapacity);
}

TEST_F(PlacementTest, AFullPartitionLeavesTheOthersOnSale) {
  selector = {{"name", "racks"}};
  resolve();
  ec2.fleet_error = "InsufficientInstanceCapacity";
  ASSERT_FALSE(create(claim_in("a", {"2"})));
  EXPECT_THAT(on_sale("m5.large"),
              ElementsAre("us-west-2a 1", "us-west-2a 3", "us-west-2b 1", "us-west-2b 3"));
  // One of those that are left, where the claim has a choice.
  ec2.fleet_error.clear();
  const auto made = create(claim_in("b", {"2", "3"}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at(kPartitionLabelText), "3");
}

TEST_F(PlacementTest, WhatIsSoldOutInTheGroupIsNotSoldOutElsewhere) {
  resolve();
  ec2.fleet_error = "InsufficientInstanceCapacity";
  ASSERT_FALSE(create(claim_named("a")));
  EXPECT_TRUE(on_sale("m5.large").empty());
  EXPECT_FALSE(on_sale("i3.large").empty());
  const auto placed = selector;
  selector = {};
  resolve();
  EXPECT_FALSE(on_sale("m5.large").empty());
  // What is sold out everywhere is so in every group.
  ASSERT_FALSE(create(claim_named("b")));
  EXPECT_TRUE(on_sale("m5.large").empty());
  loop.run_for(4min);
  selector = placed;
  resolve();
  EXPECT_FALSE(on_sale("m5.large").empty());
}

TEST_F(PlacementTest, AFullSpreadGroupClosesTheZoneForEveryType) {
  selector = {{"name", "apart"}};
  resolve();
  ec2.fleet_error = "UnfulfillableCapacity";
  ec2.fleet_error_message = "You've reached the limit of instances in this spread placement group.";
  const auto claim = claim_named("a");
  claim->requirements.push_back(
      {.key = std::string(model::kZoneLabel), .op = model::Operator::In, .values = {"us-west-2a"}});
  const auto refused = create(claim);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(on_sale("i3.large"), ElementsAre("us-west-2b"));
  selector = {{"name", "near"}};
  resolve();
  EXPECT_THAT(on_sale("i3.large"), ElementsAre("us-west-2a", "us-west-2b"));
}

TEST_F(PlacementTest, ANodeThatIsNotInItsClassesGroupHasDrifted) {
  selector = {};
  resolve();
  const auto outside = claim_named("a");
  outside->provider_id = create(outside)->provider_id;
  const auto drift = [&](const auto& claim) {
    return wait(loop, cloud->drift(claim, the_class)).value();
  };
  EXPECT_EQ(drift(outside), "");
  selector = {{"name", "near"}};
  resolve();
  EXPECT_EQ(drift(outside), "PlacementGroupDrift");
  const auto inside = claim_named("b");
  inside->provider_id = create(inside)->provider_id;
  EXPECT_EQ(drift(inside), "");
  selector = {{"name", "apart"}};
  resolve();
  EXPECT_EQ(drift(inside), "PlacementGroupDrift");
  // While it is not known which group that is, nobody says so.
  selector = {{"name", "elsewhere"}};
  resolve();
  EXPECT_EQ(drift(inside), "");
  selector = {};
  resolve();
  EXPECT_EQ(drift(inside), "PlacementGroupDrift");
  EXPECT_EQ(drift(outside), "");
}

TEST(PlacementDrift, WhereEc2TellsOnlyTheNameItIsCompared) {
  PlacementGroups groups;
  const auto of = node_class({{"placementGroupSelector", {{"id", "pg-1"}}}});
  groups.set({.id = "pg-1", .name = {}},
             PlacementGroup{.id = "pg-1", .name = "near", .strategy = "cluster", .partitions = 0});
  Ec2Instance instance;
  EXPECT_TRUE(placement_changed(groups, *of, instance));
  instance.placement_group_name = "near";
  EXPECT_FALSE(placement_changed(groups, *of, instance));
  instance.placement_group_name = "far";
  EXPECT_TRUE(placement_changed(groups, *of, instance));
}

TEST_F(PlacementTest, AClaimFromBeforeTheRestartGetsTheInstanceOfItsPartition) {
  selector = {{"name", "racks"}};
  ec2.partitions = 3;
  resolve();
  // Launched for two at once, and ended before any of them was recorded.
  const auto two = claim_in("b", {"2"});
  const auto twin = claim_in("c", {"2"});
  const auto three = claim_in("d", {"3"});
  ask_at_once({two, twin, three, claim_in("e", {"3"})});
  loop.run_for(2s);
  ASSERT_EQ(ec2.machines.size(), 4U);
  given.clear();
  crash();
  loop.run_for(2min);
  start();
  loop.run_for(1min);
  resolve();
  for (const auto& [claim, partition] :
       {std::pair(three, "3"), std::pair(two, "2"), std::pair(twin, "2")}) {
    claim->meta.creation_timestamp = kStart;
    const auto again = create(claim);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->labels.at(kPartitionLabelText), partition);
    recorded.insert(again->provider_id);
  }
  EXPECT_EQ(ec2.machines.size(), 4U);
}

}  // namespace
}  // namespace millwright::cloud::aws
