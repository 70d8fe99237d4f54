// Placement groups: found, offered, left.
#include "cloud/aws/node_class/drift.hpp"
#include "millwright/model/conditions.hpp"
#include "placement_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

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
  const auto before = selecting_class();
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

}  // namespace
}  // namespace millwright::cloud::aws
