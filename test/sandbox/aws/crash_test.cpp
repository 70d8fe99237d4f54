// The crash runs with the AWS provider: MILLWRIGHT_CRASH_RUNS=2500 for all moments and chances, a
// part of them by default.
#include "aws_cluster.hpp"
#include "support/crash_runs.hpp"

namespace millwright {
namespace {

TEST(AwsCrash, AtEveryMomentOfALaunchLeavesOneInstancePerClaim) {
  const int runs = crash_runs(320);
  int merged = 0;
  const auto count = run_crashes(
      runs, [](std::uint64_t seed) { return std::make_unique<AwsCluster>(seed); },
      [&merged](AwsCluster& cluster) {
        const auto calls = cluster.ec2.aws.calls("CreateFleet");
        merged += std::any_of(calls.begin(), calls.end(), [](const Asked& asked) {
          return asked.field("TargetCapacitySpecification.TotalTargetCapacity") != "1";
        });
      });
  EXPECT_GT(merged, runs / 4);
  EXPECT_GT(count.before_launch, runs / 50);
  EXPECT_GT(count.after_launch, runs / 10);
}

}  // namespace
}  // namespace millwright
