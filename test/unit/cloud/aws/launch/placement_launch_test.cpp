// Launches into placement groups and their partitions, and groups that are full.
#include "unit/cloud/aws/node_class/placement_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

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

TEST_F(PlacementTest, APartitionThatEc2ShowsLateIsAwaitedForAWhile) {
  selector = {{"name", "racks"}};
  ec2.partitions = 3;
  ec2.hides_partitions = true;
  resolve();
  loop.after(4s, [this] { ec2.hides_partitions = false; });
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at(kPartitionLabelText), "1");

  ec2.hides_partitions = true;
  const auto asked = loop.now();
  const auto without = create(claim_named("b"));
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_GE(loop.now() - asked, 10s);
  EXPECT_FALSE(without->labels.contains(kPartitionLabelText));
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
