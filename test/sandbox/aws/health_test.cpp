// An instance that EC2 finds unhealthy, in the whole program's life.
#include "aws_cluster.hpp"

namespace millwright {
namespace {

constexpr std::string_view kStubborn = R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec:
  maxUnavailable: 0
  selector: {matchLabels: {app: web}}
)";

class AwsHealth : public testing::Test, protected AwsCluster {
 protected:
  AwsHealth() {
    apply(kNodeClass);
    apply(kNodePool);
    apply(kSpreadDeployment);
    apply(kStubborn);
    loop.run_for(8min);
  }
  // From now on EC2 says that of the first instance.
  void say(const std::string& status) {
    const auto& first = ec2.machines.front();
    ec2.aws.on("DescribeInstanceStatus", "<R><instanceStatusSet><item><instanceId>" + first.id +
                                             "</instanceId><availabilityZone>" + first.zone +
                                             "</availabilityZone>" + status +
                                             "</item></instanceStatusSet></R>");
  }
  std::string state_of_first() const { return ec2.machines.front().state; }
  double disrupted(const std::string& reason) {
    return metrics.value("karpenter_nodeclaims_disrupted_total",
                         {{"reason", reason},
                          {"nodepool", "default"},
                          {"capacity_type", "on-demand"},
                          {"consolidation_policy", "WhenEmpty"},
                          {"termination_mode", "graceful"}});
  }
};

TEST_F(AwsHealth, AFailedOneIsReplacedWhateverItsPodsAskFor) {
  ASSERT_EQ(running_pods(), 5U);
  say("<systemStatus><status>impaired</status><details><item><name>reachability</name>"
      "<status>failed</status></item></details></systemStatus>");
  loop.run_for(10min);
  EXPECT_EQ(state_of_first(), "terminated");
  EXPECT_EQ(disrupted("system_status"), 1);
  EXPECT_EQ(running_pods(), 5U);
  EXPECT_EQ(ec2.living().size(), 5U);
}

TEST_F(AwsHealth, APlannedEventWaitsForThePods) {
  ASSERT_EQ(running_pods(), 5U);
  say("<eventsSet><item><code>system-maintenance</code><description>soon</description></item>"
      "</eventsSet>");
  loop.run_for(10min);
  EXPECT_EQ(disrupted("event_status"), 1);
  EXPECT_EQ(state_of_first(), "running");
  // The check fails in the end: what is being drained is forced.
  say("<instanceStatus><status>impaired</status><details><item><name>reachability</name>"
      "<status>failed</status></item></details></instanceStatus>");
  loop.run_for(10min);
  EXPECT_EQ(state_of_first(), "terminated");
  EXPECT_EQ(running_pods(), 5U);
}

}  // namespace
}  // namespace millwright
