// The crash runs with the providers of Alibaba Cloud and Huawei Cloud.
#include "alibaba_cluster.hpp"
#include "huawei_cluster.hpp"

namespace millwright {
namespace {

constexpr int kCrashes = 500;

template <class Cluster>
void expect_no_doubled_nor_leaked_machine() {
  const int runs = crash_runs(kCrashes);
  const auto count = run_crashes(
      runs, [](std::uint64_t seed) { return std::make_unique<Cluster>(seed); },
      [](const Cluster&) {});
  EXPECT_GT(count.before_launch, runs / 50);
  EXPECT_GT(count.after_launch, runs / 10);
}

TEST(AlibabaCrash, AtEveryMomentOfALaunchLeavesOneInstancePerClaim) {
  expect_no_doubled_nor_leaked_machine<AlibabaCluster>();
}

TEST(HuaweiCrash, AtEveryMomentOfALaunchLeavesOneNodePerClaim) {
  expect_no_doubled_nor_leaked_machine<HuaweiCluster>();
}

}  // namespace
}  // namespace millwright
