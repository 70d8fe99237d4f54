// A placement group from the class's selector to the instance, and what goes wrong on the way.
#include "adapter_fixture.hpp"

namespace millwright::cloud {
namespace {

using testing::HasSubstr;

const NodeClassCondition* placement_condition(const NodeClassState& state) {
  for (const auto& condition : state.conditions) {
    if (condition.type == "PlacementGroupReady") {
      return &condition;
    }
  }
  return nullptr;
}

class Placement : public Adapter {
 protected:
  std::string drift_of(const std::shared_ptr<model::NodeClaim>& claim) {
    const auto reason =
        thread.run<base::Result<std::string>>([&] { return cloud->drift(claim, the_class); });
    return reason ? *reason : reason.error().message;
  }
};

TEST_F(Placement, InstancesStartInTheGroupAndALeftOneIsDrift) {
  control("/_facade/placement-group", R"({"id":"pg-0a1b","name":"near","strategy":"cluster"})");
  start();
  const auto state = resolve({{"placementGroupSelector", {{"name", "near"}}}});
  EXPECT_TRUE(state.ready) << state.message;
  ASSERT_NE(placement_condition(state), nullptr);
  EXPECT_TRUE(placement_condition(state)->good);
  wait_for_catalog();
  const auto claim = claim_named("in-the-group", {"m5.large"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("karpenter.k8s.aws/placement-group-id"), "pg-0a1b");
  // As EC2 tells it.
  const auto listed = list();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().labels.at("karpenter.k8s.aws/placement-group-id"), "pg-0a1b");
  claim->provider_id = made->provider_id;
  claim->meta.annotations = made->annotations;
  EXPECT_EQ(drift_of(claim), "");
  // Another group has the name now.
  control("/_facade/placement-group", R"({"id":"pg-0a1b","deleted":true})");
  control("/_facade/placement-group", R"({"id":"pg-0e5f","name":"near","strategy":"cluster"})");
  resolve({{"placementGroupSelector", {{"name", "near"}}}});
  EXPECT_EQ(drift_of(claim), "PlacementGroupDrift");
  resolve();
  EXPECT_EQ(drift_of(claim), "NodeClassDrift");
  EXPECT_TRUE(remove(claim));
  control("/_facade/placement-group", R"({"id":"pg-0e5f","deleted":true})");
}

TEST_F(Placement, Ec2ChoosesAPartitionUnlessTheClaimDoes) {
  control("/_facade/placement-group",
          R"({"id":"pg-0c2d","name":"racks","strategy":"partition","partitions":3})");
  start();
  const auto state = resolve({{"placementGroupSelector", {{"id", "pg-0c2d"}}}});
  EXPECT_TRUE(state.ready) << state.message;
  wait_for_catalog();
  const std::string label = "karpenter.k8s.aws/placement-group-partition";
  const auto any = claim_named("in-any-partition", {"m5.large"});
  const auto first = create(any);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(first->labels.at(label), testing::AnyOf("1", "2", "3"));
  const auto bound = claim_named("in-the-third", {"m5.large"});
  bound->requirements.push_back({.key = label, .op = model::Operator::In, .values = {"3"}});
  const auto second = create(bound);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->labels.at(label), "3");
  const auto read =
      thread.run<base::Result<Instance>>([&] { return cloud->get(second->provider_id); });
  ASSERT_TRUE(read);
  EXPECT_EQ(read->labels.at(label), "3");
  for (const auto& claim : {any, bound}) {
    EXPECT_TRUE(remove(claim));
  }
  control("/_facade/placement-group", R"({"id":"pg-0c2d","deleted":true})");
}

TEST_F(Placement, AGroupThatIsNotThereIsToldWithAwssOwnWords) {
  start();
  const auto state = resolve({{"placementGroupSelector", {{"name", "elsewhere"}}}});
  EXPECT_FALSE(state.ready);
  EXPECT_EQ(state.reason, "PlacementGroupNotFound");
  EXPECT_THAT(state.message, HasSubstr("name \"elsewhere\""));
  EXPECT_THAT(state.message, HasSubstr("InvalidPlacementGroup.Unknown"));
  EXPECT_THAT(state.message, HasSubstr("request id"));
  control("/_facade/deny", R"({"action":"DescribePlacementGroups"})");
  const auto denied = resolve({{"placementGroupSelector", {{"name", "elsewhere"}}}});
  control("/_facade/deny", "{}");
  EXPECT_EQ(denied.reason, "PlacementGroupResolutionFailed");
  EXPECT_THAT(denied.message, HasSubstr("UnauthorizedOperation"));
}

}  // namespace
}  // namespace millwright::cloud
