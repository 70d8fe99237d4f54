// EC2's status checks and planned events: what is asked, and what ends an instance.
#include "cloud/aws/health/instance_status.hpp"

#include "unit/cloud/aws/provider/provider_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

std::string check(const std::string& which, const std::string& status, const std::string& since) {
  return "<" + which +
         "><status>impaired</status><details><item><name>reachability</name><status>" + status +
         "</status>" + (since.empty() ? "" : "<impairedSince>" + since + "</impairedSince>") +
         "</item></details></" + which + ">";
}
std::string event(const std::string& code, const std::string& description = "soon") {
  return "<eventsSet><item><code>" + code + "</code><description>" + description +
         "</description></item></eventsSet>";
}

class InstanceStatusTest : public ProviderTest {
 protected:
  InstanceStatusTest() {
    ec2.aws.on("DescribeInstanceStatus", [this](const Asked&) {
      std::string items;
      for (const auto& [id, status] : unhealthy) {
        items += "<item><instanceId>" + id + "</instanceId><availabilityZone>us-west-2a" +
                 "</availabilityZone>" + status + "</item>";
      }
      return xml("<R><instanceStatusSet>" + items + "</instanceStatusSet></R>");
    });
    recorded = {"aws:///us-west-2a/i-1", "aws:///us-west-2a/i-2"};
  }
  std::string ago(base::Duration time) const { return base::format_rfc3339(loop.now() - time); }
  double counted(const std::string& category) const {
    return metrics.value("karpenter_interruption_instance_status_unhealthy_total",
                         {{"category", category}});
  }
  // One look at the answer that there is now.
  void look() {
    notices.clear();
    interrupted.clear();
    loop.run_for(1min);
  }

  std::map<std::string, std::string> unhealthy;  // by instance: what EC2 says of it
};

TEST_F(InstanceStatusTest, EveryMinuteAllThreeAreAskedFor) {
  loop.run_for(10s);
  const auto before = ec2.aws.calls("DescribeInstanceStatus").size();
  loop.run_for(1min);
  const auto calls = ec2.aws.calls("DescribeInstanceStatus");
  ASSERT_EQ(calls.size(), before + 3);
  EXPECT_EQ(calls[before].filter("instance-status.status"), "impaired");
  EXPECT_EQ(calls[before + 1].filter("system-status.status"), "impaired");
  EXPECT_EQ(calls[before + 2].filter("event.code"),
            "instance-reboot,system-reboot,system-maintenance,instance-retirement,instance-stop");
}

TEST_F(InstanceStatusTest, AFailedCheckIsBorneForTwoMinutesThenTheInstanceIsForced) {
  unhealthy["i-1"] = check("instanceStatus", "failed", ago(0s));
  look();
  EXPECT_THAT(notices, IsEmpty());
  look();
  look();
  EXPECT_THAT(notices, ElementsAre("instance_status aws:///us-west-2a/i-1"));
  EXPECT_EQ(counted("InstanceStatus"), 1);
  look();
  EXPECT_THAT(notices, ElementsAre("instance_status aws:///us-west-2a/i-1"))
      << "told until it ends";
  EXPECT_EQ(counted("InstanceStatus"), 1) << "and counted once";
  unhealthy.clear();
  look();
  unhealthy["i-1"] = check("instanceStatus", "failed", ago(1h));
  look();
  EXPECT_EQ(counted("InstanceStatus"), 2) << "well in between";
}

TEST_F(InstanceStatusTest, WithoutATimeACheckFailsSinceItWasSeen) {
  unhealthy["i-2"] = check("systemStatus", "failed", "");
  look();
  look();
  EXPECT_THAT(notices, IsEmpty());
  look();
  EXPECT_THAT(notices, ElementsAre("system_status aws:///us-west-2a/i-2"));
}

TEST_F(InstanceStatusTest, APlannedEventCountsAtOnceAndTheWorstIsTold) {
  unhealthy["i-1"] = event("instance-retirement");
  unhealthy["i-2"] = event("system-reboot") + check("systemStatus", "failed", ago(5min));
  look();
  EXPECT_THAT(notices, ElementsAre("event_status aws:///us-west-2a/i-1",
                                   "system_status aws:///us-west-2a/i-2"));
  EXPECT_EQ(counted("EventStatus"), 2);
  EXPECT_EQ(counted("SystemStatus"), 1);
}

TEST_F(InstanceStatusTest, WhatIsNotMeantIsLeftAlone) {
  unhealthy["i-1"] = check("instanceStatus", "insufficient-data", ago(1h)) +
                     check("attachedEbsStatus", "failed", ago(1h)) +
                     event("instance-stop", "[Completed] Instance was stopped");
  unhealthy["i-2"] = event("instance-reboot", "[Canceled] soon");
  unhealthy["i-9"] = check("instanceStatus", "failed", ago(1h));  // somebody else's
  look();
  look();
  EXPECT_THAT(notices, IsEmpty());
  EXPECT_EQ(counted("InstanceStatus"), 0);
}

TEST_F(InstanceStatusTest, ARoleThatMayNotAskIsNotAskedOfEveryMinute) {
  ec2.aws.on("DescribeInstanceStatus",
             [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  loop.run_for(1min);
  const auto before = ec2.aws.calls("DescribeInstanceStatus").size();
  loop.run_for(20min);
  EXPECT_EQ(ec2.aws.calls("DescribeInstanceStatus").size(), before);
  loop.run_for(15min);
  EXPECT_EQ(ec2.aws.calls("DescribeInstanceStatus").size(), before + 1);
}

TEST(InstanceStatus, NoticesSayWhatToDo) {
  using Action = InstanceNotice::Action;
  EXPECT_EQ(notice_of(InterruptionKind::InstanceCheckFailed, "x").action, Action::Force);
  EXPECT_EQ(notice_of(InterruptionKind::SystemCheckFailed, "x").action, Action::Force);
  EXPECT_EQ(notice_of(InterruptionKind::EventPlanned, "x").action, Action::Drain);
  EXPECT_EQ(notice_of(InterruptionKind::BlockExpiring, "x").action, Action::Drain);
  const auto advice = notice_of(InterruptionKind::RebalanceRecommended, "x");
  EXPECT_EQ(advice.action, Action::Tell);
  EXPECT_EQ(advice.reason, "SpotRebalanceRecommendation");
}

}  // namespace
}  // namespace millwright::cloud::aws
