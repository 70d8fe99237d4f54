// Messages of the interruption queue.
#include "cloud/aws/health/interruption.hpp"

#include "unit/cloud/aws/provider/provider_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

using namespace std::chrono_literals;

// SQS hands out what is in `messages` until it is deleted.
class InterruptionTest : public ProviderTest {
 protected:
  InterruptionTest() {
    crash();
    queue = "events";
    ec2.aws.on("GetQueueUrl", R"({"QueueUrl":"https://sqs/1/events"})");
    ec2.aws.on("ReceiveMessage", [this](const Asked&) {
      boost::json::array list;
      for (const auto& [receipt, body] : messages) {
        list.push_back(boost::json::object{{"ReceiptHandle", receipt}, {"Body", body}});
      }
      boost::json::object answer;
      if (!list.empty()) {
        answer["Messages"] = std::move(list);
      }
      http.delay = messages.empty() ? base::Duration(20s) : base::Duration(10ms);
      return net::Response::json(200, boost::json::serialize(answer));
    });
    ec2.aws.on("DeleteMessage", [this](const Asked& asked) {
      messages.erase(std::string(boost::json::parse(asked.body).at("ReceiptHandle").as_string()));
      return net::Response::json(200, "{}");
    });
    start();
    loop.run_for(1min);
    http.delay = 10ms;
  }
  static std::string event(const std::string& type, boost::json::value detail,
                           const std::string& time = "2020-01-01T00:00:00Z",
                           const std::string& source = "aws.ec2") {
    return boost::json::serialize(boost::json::value{{"version", "0"},
                                                     {"source", source},
                                                     {"detail-type", type},
                                                     {"time", time},
                                                     {"detail", detail}});
  }
  std::map<std::string, std::string> messages;
};

TEST_F(InterruptionTest, AWarningEndsTheInstanceAndItsOffering) {
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  messages["r1"] = event("EC2 Spot Instance Interruption Warning",
                         {{"instance-id", "i-1"}, {"instance-action", "terminate"}});
  loop.run_for(2min);
  EXPECT_THAT(interrupted, testing::ElementsAre(made->provider_id));
  EXPECT_TRUE(messages.empty());
  EXPECT_EQ(metrics.value("karpenter_interruption_received_messages_total",
                          {{"message_type", "spot_interrupted"}}),
            1);
  EXPECT_EQ(metrics.value("karpenter_interruption_deleted_messages_total"), 1);
  EXPECT_THAT(metrics.render(),
              testing::HasSubstr("karpenter_interruption_message_queue_duration_seconds_count 1"));
}

TEST_F(InterruptionTest, WhatIsNotForUsIsDeletedWithoutAct) {
  ASSERT_TRUE(create(claim_named("a")));
  ec2.machines[0].tags["eks:eks-cluster-name"] = "another";
  messages = {{"r1", "not json"},
              {"r2", event("EC2 Instance State-change Notification",
                           {{"instance-id", "i-1"}, {"state", "terminated"}})},
              {"r3", event("EC2 Instance Rebalance Recommendation", {{"instance-id", "i-1"}})},
              {"r4", event("EC2 Spot Instance Interruption Warning", {{"instance-id", "i-77"}})}};
  loop.run_for(2min);
  EXPECT_TRUE(messages.empty());
  EXPECT_TRUE(interrupted.empty());
}

TEST_F(InterruptionTest, AMessageThatCouldNotBeActedOnComesAgain) {
  ASSERT_TRUE(create(claim_named("a")));
  ec2.aws.on("DescribeInstances",
             [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  messages["r1"] = event("EC2 Instance State-change Notification",
                         {{"instance-id", "i-1"}, {"state", "stopping"}});
  loop.run_for(1min);
  EXPECT_EQ(messages.size(), 1U);
  EXPECT_TRUE(interrupted.empty());
}

TEST_F(InterruptionTest, AnInstanceThatEc2DoesNotShowYetIsAskedForAgain) {
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  ec2.machines[0].visible_at = loop.now() + 2min;
  messages["r1"] = event("EC2 Spot Instance Interruption Warning",
                         {{"instance-id", "i-1"}, {"instance-action", "terminate"}},
                         base::format_rfc3339(loop.now()));
  loop.run_for(1min);
  EXPECT_EQ(messages.size(), 1U);
  EXPECT_TRUE(interrupted.empty());
  loop.run_for(2min);
  EXPECT_TRUE(messages.empty());
  EXPECT_THAT(interrupted, testing::Contains(made->provider_id));
}

// AWS Health tells of many instances at once.
TEST_F(InterruptionTest, OneThatEc2DoesNotShowKeepsNoOtherWaiting) {
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  const boost::json::value detail{
      {"service", "EC2"},
      {"eventTypeCategory", "scheduledChange"},
      {"affectedEntities",
       boost::json::array{{{"entityValue", "i-77"}}, {{"entityValue", "i-1"}}}}};
  messages["r1"] =
      event("AWS Health Event", detail, base::format_rfc3339(loop.now()), "aws.health");
  loop.run_for(1min);
  EXPECT_THAT(interrupted, testing::Contains(made->provider_id));
  EXPECT_EQ(messages.size(), 1U);
}

TEST_F(InterruptionTest, AnInstanceThatEc2DoesNotShowForLongIsGone) {
  messages["r1"] = event("EC2 Spot Instance Interruption Warning",
                         {{"instance-id", "i-77"}, {"instance-action", "terminate"}},
                         base::format_rfc3339(loop.now()));
  loop.run_for(4min);
  EXPECT_EQ(messages.size(), 1U);
  loop.run_for(2min);
  EXPECT_TRUE(messages.empty());
}

TEST_F(InterruptionTest, AMessageIsDeletedOnlyOnceItsClaimWasActedOn) {
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  nobody_acts = true;
  messages["r1"] = event("EC2 Instance State-change Notification",
                         {{"instance-id", "i-1"}, {"state", "stopping"}});
  loop.run_for(1min);
  EXPECT_THAT(interrupted, testing::Contains(made->provider_id));
  EXPECT_EQ(messages.size(), 1U);
  EXPECT_EQ(metrics.value("karpenter_interruption_deleted_messages_total"), 0);
  nobody_acts = false;
  loop.run_for(1min);
  EXPECT_TRUE(messages.empty());
}

TEST(Interruption, EventsAreUnderstood) {
  const auto event = [](const std::string& type, boost::json::value detail,
                        const std::string& source = "aws.ec2") {
    return boost::json::serialize(boost::json::value{
        {"version", "0"}, {"source", source}, {"detail-type", type}, {"detail", detail}});
  };
  const boost::json::value instance{{"instance-id", "i-1"}};
  const auto kind = [](const std::string& body) {
    return std::string(to_string(parse_interruption(body).kind));
  };
  EXPECT_EQ(kind(event("EC2 Spot Instance Interruption Warning", instance)), "spot_interrupted");
  EXPECT_EQ(kind(event("EC2 Instance Rebalance Recommendation", instance)),
            "rebalance_recommendation");
  EXPECT_EQ(kind(event("EC2 Capacity Reservation Instance Interruption Warning", instance)),
            "capacity_reservation_interrupted");
  for (const auto& [state, expected] :
       std::map<std::string, std::string>{{"pending", "no_op"},
                                          {"running", "no_op"},
                                          {"stopping", "instance_stopped"},
                                          {"stopped", "instance_stopped"},
                                          {"shutting-down", "instance_terminated"},
                                          {"terminated", "instance_terminated"}}) {
    EXPECT_EQ(kind(event("EC2 Instance State-change Notification",
                         {{"instance-id", "i-1"}, {"state", state}})),
              expected);
  }
  const boost::json::value health{
      {"service", "EC2"},
      {"eventTypeCategory", "scheduledChange"},
      {"affectedEntities",
       boost::json::array{{{"entityValue", "i-1"}}, {{"entityValue", "arn:x"}}, 7}}};
  const auto change = parse_interruption(event("AWS Health Event", health, "aws.health"));
  EXPECT_EQ(to_string(change.kind), "scheduled_change");
  EXPECT_THAT(change.instances, testing::ElementsAre("i-1"));
  for (const std::string odd :
       {"", "[]", "{}", R"({"version":"0","source":"aws.ec2"})",
        R"({"version":"1","source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption )"
        R"(Warning","detail":{"instance-id":"i-1"}})"}) {
    EXPECT_EQ(kind(odd), "no_op") << odd;
  }
}

}  // namespace
}  // namespace millwright::cloud::aws
