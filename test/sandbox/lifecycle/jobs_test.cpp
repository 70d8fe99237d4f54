// Nodes whose pods end by themselves and come again.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <string>

namespace millwright::test {
namespace {

class Jobs : public LifecycleFixture {
 protected:
  // So many pods, each of which runs for ten seconds.
  void begin_job(int number, int pods) {
    const auto count = std::to_string(pods);
    apply(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: report-)" +
          std::to_string(number) + R"(, namespace: default}
spec:
  parallelism: )" +
          count + R"(
  completions: )" +
          count + R"(
  ttlSecondsAfterFinished: 1
  template:
    metadata:
      labels: {app: report}
      annotations: {sandbox.millwright.io/run-for: 10s}
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: registry.example/report, resources: {requests: {cpu: "1"}}}
)");
  }

  // A Job every twenty seconds for an hour; then none.
  void play_an_hour(int pods) {
    start();
    apply_class();
    apply_pool(
        {.disruption = "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s}"});
    for (int number = 0; number < 180; ++number) {
      begin_job(number, pods);
      run_for(seconds(20));
      ASSERT_EQ(running("report"), 0U) << "Job " << number << "\n" << inventory();
    }
  }
};

TEST_F(Jobs, AJobEveryTwentySecondsForAnHourBuysTwoNodesAtMost) {
  play_an_hour(1);
  EXPECT_LE(recorder().nodes().size(), 2U) << inventory();
  EXPECT_TRUE(wait_empty(minutes(6))) << inventory();
}

// The first Job comes to a cluster without nodes. Later ones find what it has left.
TEST_F(Jobs, AJobOfTwentyPodsEveryTwentySecondsBuysOnceAndOnceAgainAtMost) {
  play_an_hour(20);
  EXPECT_LE(recorder().nodes().size(), 4U) << inventory();
  EXPECT_TRUE(wait_empty(minutes(6))) << inventory();
}

}  // namespace
}  // namespace millwright::test
