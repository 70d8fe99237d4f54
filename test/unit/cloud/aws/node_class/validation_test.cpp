// Dry runs of a class's launches: what they ask, what they say of the class, how long it is kept.
#include "unit/cloud/aws/provider/provider_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

class ValidationTest : public ProviderTest {
 protected:
  ValidationTest() {
    crash();
    dry_run = true;
    start();
  }

  NodeClassState resolve() {
    ec2.answer_discovery(zones);
    auto asked = discovering_class({{"tags", {{"team", team}}}});
    asked->conditions = conditions;
    auto state = wait(loop, cloud->resolve(asked));
    EXPECT_TRUE(state) << state.error().message;
    return state ? *std::move(state) : NodeClassState{};
  }
  // "True", its reason, or "absent".
  static std::string verdict(const NodeClassState& state) {
    for (const auto& condition : state.conditions) {
      if (condition.type == "ValidationSucceeded") {
        const auto shown = condition.is_unknown ? "Unknown " + condition.reason : condition.reason;
        return condition.good ? "True" : shown;
      }
    }
    return "absent";
  }
  std::size_t calls(const std::string& action) const { return ec2.aws.calls(action).size(); }

  std::vector<std::string> zones{"a", "b"};
  std::string team = "web";
  std::vector<model::Condition> conditions;  // that the class has
};

TEST_F(ValidationTest, AClassThatMayBeLaunchedIsReadyAndNothingIsLaunched) {
  const auto state = resolve();
  EXPECT_TRUE(state.ready) << state.message;
  EXPECT_EQ(verdict(state), "True");
  EXPECT_TRUE(ec2.machines.empty());
  const auto fleet = ec2.aws.only("CreateFleet");
  EXPECT_EQ(fleet.field("DryRun"), "true");
  EXPECT_EQ(fleet.field("TargetCapacitySpecification.DefaultTargetCapacityType"), "on-demand");
  std::vector<std::string> subnets;
  for (const auto& call : ec2.aws.calls("RunInstances")) {
    subnets.push_back(call.field("SubnetId"));
    EXPECT_EQ(
        call.field("LaunchTemplate.LaunchTemplateName"),
        fleet.field("LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName"));
    EXPECT_EQ(call.field("MinCount"), "1");
    EXPECT_EQ(call.field("ImageId"), "ami-amd");
    EXPECT_THAT(call.body, HasSubstr("TagSpecification.1.Tag.5.Key=team"));
  }
  EXPECT_THAT(subnets, ElementsAre("subnet-a", "subnet-b"));
}

TEST_F(ValidationTest, EachCallThatIsRefusedHasItsOwnReason) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"CreateLaunchTemplate", "CreateLaunchTemplateAuthCheckFailed"},
      {"CreateFleet", "CreateFleetAuthCheckFailed"},
      {"RunInstances", "RunInstancesAuthCheckFailed"}};
  for (const auto& [action, reason] : cases) {
    ec2.denied = {action};
    team = action;  // another class, so to speak
    const auto state = resolve();
    EXPECT_FALSE(state.ready);
    EXPECT_EQ(verdict(state), reason);
    EXPECT_EQ(state.reason, reason);
    EXPECT_THAT(state.message, HasSubstr("ec2:" + action));
    EXPECT_THAT(state.message, HasSubstr("UnauthorizedOperation"));
    EXPECT_THAT(state.message, HasSubstr("docs/aws.md"));
  }
}

TEST_F(ValidationTest, WhatWasFoundIsKeptWhileTheClassStaysAsItIs) {
  resolve();
  loop.run_for(29min);
  EXPECT_EQ(verdict(resolve()), "True");
  EXPECT_EQ(calls("CreateFleet"), 1U);
  loop.run_for(2min);
  resolve();
  EXPECT_EQ(calls("CreateFleet"), 2U);
  team = "other";
  resolve();
  EXPECT_EQ(calls("CreateFleet"), 3U);
  zones.pop_back();
  loop.run_for(1min);  // --subnet-refresh-interval
  resolve();
  EXPECT_EQ(calls("CreateFleet"), 4U);
}

TEST_F(ValidationTest, ARefusalIsForgottenSooner) {
  ec2.denied = {"CreateFleet"};
  EXPECT_FALSE(resolve().ready);
  ec2.denied.clear();
  EXPECT_FALSE(resolve().ready);
  loop.run_for(11min);
  EXPECT_TRUE(resolve().ready);
}

TEST_F(ValidationTest, ACloudThatCannotBeAskedNowSaysNothingAgainstTheClass) {
  ec2.aws.on("CreateFleet", [](const Asked&) { return ec2_error("InternalError", 500); });
  const auto state = resolve();
  EXPECT_TRUE(state.ready);
  EXPECT_EQ(verdict(state), "absent");
}

TEST_F(ValidationTest, ARefusalCountsWhileTheCloudCannotBeAsked) {
  ec2.aws.on("CreateFleet", [](const Asked&) { return ec2_error("InternalError", 500); });
  auto& last = conditions.emplace_back();
  last.type = "ValidationSucceeded";
  last.status = model::ConditionStatus::False;
  last.reason = "CreateFleetAuthCheckFailed";
  last.message = "may not";
  auto state = resolve();
  EXPECT_FALSE(state.ready) << "as its condition says";
  EXPECT_EQ(state.reason, "CreateFleetAuthCheckFailed");
  EXPECT_EQ(state.message, "may not");
  EXPECT_EQ(verdict(state), "absent");
  last.status = model::ConditionStatus::True;
  EXPECT_TRUE(resolve().ready);
}

TEST_F(ValidationTest, WhatTheClassMissedOnceDoesNotCountWhenItIsThere) {
  ec2.aws.on("CreateFleet", [](const Asked&) { return ec2_error("InternalError", 500); });
  zones.clear();
  const auto before = resolve();
  auto& last = conditions.emplace_back();
  last.type = "ValidationSucceeded";
  last.status = model::ConditionStatus::False;
  last.reason = verdict(before);
  EXPECT_EQ(last.reason, "DependenciesNotReady");
  zones = {"a", "b"};
  loop.run_for(1min);  // --subnet-refresh-interval
  const auto after = resolve();
  EXPECT_TRUE(after.ready) << after.message;
  EXPECT_EQ(verdict(after), "Unknown DryRunNotMade") << "in place of the condition that is over";
}

TEST_F(ValidationTest, AQuotaOrAZoneWithoutTheTypeIsForLaunchesToMeet) {
  ec2.aws.on("RunInstances", [](const Asked&) { return ec2_error("VcpuLimitExceeded"); });
  EXPECT_EQ(verdict(resolve()), "True");
}

TEST_F(ValidationTest, NothingIsTriedForAClassThatMissesSomething) {
  zones.clear();
  const auto state = resolve();
  EXPECT_EQ(state.reason, "SubnetsNotFound");
  EXPECT_EQ(verdict(state), "DependenciesNotReady");
  EXPECT_EQ(calls("CreateFleet"), 0U);
}

TEST_F(ValidationTest, CanBeTurnedOff) {
  crash();
  dry_run = false;
  start();
  EXPECT_EQ(verdict(resolve()), "True");
  EXPECT_EQ(calls("CreateFleet"), 0U);
}

TEST_F(ValidationTest, WaitsForTheTypesButNotForEver) {
  crash();
  auto types = ec2.aws.answer_to("DescribeInstanceTypes");
  ec2.aws.on("DescribeInstanceTypes",
             [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  start();
  const auto before = loop.now();
  const auto state = resolve();
  EXPECT_TRUE(state.ready);
  EXPECT_EQ(verdict(state), "absent");
  EXPECT_LE(loop.now() - before, 1min);
  ec2.aws.on("DescribeInstanceTypes", std::move(types));
  loop.run_for(2min);
  EXPECT_EQ(verdict(resolve()), "True");
}

}  // namespace
}  // namespace millwright::cloud::aws
