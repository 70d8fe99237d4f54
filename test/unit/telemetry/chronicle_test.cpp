#include "millwright/telemetry/chronicle.hpp"

#include "millwright/scheduling/solve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::telemetry {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

base::TimePoint chronicle_at(int second) {
  return base::TimePoint(seconds(second));
}

class ChronicleTest : public testing::Test {
 protected:
  ChronicleTest() : chronicle_(metrics_, chronicle_at(0)) { chronicle_.set_leading(true); }

  // Created at second 10.
  static model::Pod pod(std::string phase, const std::string& uid = "a") {
    model::Pod pod;
    pod.meta.uid = uid;
    pod.meta.creation_timestamp = chronicle_at(10);
    pod.status.phase = std::move(phase);
    return pod;
  }
  static model::Pod with(model::Pod pod, std::string type, int since) {
    pod.status.conditions.push_back({.type = std::move(type),
                                     .status = model::ConditionStatus::True,
                                     .last_transition_time = chronicle_at(since)});
    return pod;
  }
  static model::Pod bound(int when) {
    auto bound = with(pod("Pending"), "PodScheduled", when);
    bound.spec.node_name = "node";
    return bound;
  }
  static model::Pod running(int bound_at, int when) {
    auto running = with(bound(bound_at), "Ready", when);
    running.status.phase = "Running";
    return running;
  }

  void plan(const std::vector<std::string>& uids, const std::vector<std::string>& refused,
            int begun, int done) {
    Chronicle::Pods pods;
    for (const auto& uid : uids) {
      pods.push_back(std::make_shared<model::Pod>(pod("Pending", uid)));
    }
    scheduling::Plan plan;
    for (const auto& uid : refused) {
      plan.refusals.push_back({.pod_uid = uid});
    }
    chronicle_.solve_begun(pods, chronicle_at(begun));
    chronicle_.solve_ended(pods, plan, chronicle_at(done));
  }

  base::Metrics metrics_;
  Chronicle chronicle_;
};

TEST_F(ChronicleTest, MeasuresAPodFromItsCreationUntilItRuns) {
  chronicle_.pod_seen(pod("Pending"));
  chronicle_.pod_seen(bound(13));
  chronicle_.pod_seen(bound(13));
  chronicle_.pod_seen(running(13, 17));
  chronicle_.pod_seen(running(13, 17));
  const std::string text = metrics_.render();
  EXPECT_THAT(text, HasSubstr("karpenter_pods_bound_duration_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_bound_duration_seconds_sum 3\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_startup_duration_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_startup_duration_seconds_sum 7\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_startup_duration_seconds{quantile=\"0.5\"} 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("karpenter_pods_provisioning_bound")))
      << "no plan placed the pod";
}

TEST_F(ChronicleTest, MeasuresWhatPlansDidForAPod) {
  chronicle_.pod_seen(pod("Pending"));
  plan({"a"}, {"a"}, 11, 13);
  EXPECT_EQ(chronicle_.times_of("a").considered, chronicle_at(11));
  EXPECT_EQ(chronicle_.times_of("a").decided, chronicle_at(13));
  EXPECT_EQ(chronicle_.times_of("a").placed, std::nullopt);
  plan({"a"}, {}, 12, 14);
  plan({"a"}, {}, 15, 15);
  EXPECT_EQ(chronicle_.times_of("a").placed, chronicle_at(14));
  chronicle_.pod_seen(running(20, 30));
  const std::string text = metrics_.render();
  EXPECT_THAT(text, HasSubstr("karpenter_pods_scheduling_decision_duration_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_scheduling_decision_duration_seconds_sum 2\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_provisioning_bound_duration_seconds_sum 6\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_provisioning_startup_duration_seconds_sum 16\n"));
  EXPECT_EQ(chronicle_.times_of("a").placed, std::nullopt) << "a pod that runs is forgotten";
}

TEST_F(ChronicleTest, SaysNothingOfPodsItDidNotSeeWaiting) {
  plan({"a"}, {}, 11, 12);
  chronicle_.pod_seen(running(13, 17));
  chronicle_.pod_seen(pod("Pending", "b"));
  chronicle_.pod_gone("b");
  chronicle_.pod_seen(with(pod("Running", "b"), "Ready", 20));
  EXPECT_THAT(metrics_.render(), Not(HasSubstr("karpenter_pods")));
}

TEST_F(ChronicleTest, LeavesCountingToTheLeader) {
  chronicle_.set_leading(false);
  chronicle_.pod_seen(pod("Pending"));
  chronicle_.pod_seen(running(13, 17));
  EXPECT_THAT(metrics_.render(), Not(HasSubstr("karpenter_pods")));
}

}  // namespace
}  // namespace millwright::telemetry
