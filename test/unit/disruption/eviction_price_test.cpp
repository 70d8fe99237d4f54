#include "disruption/candidates/eviction_price.hpp"

#include "cluster_builder.hpp"

namespace millwright::disruption {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const model::ResourceList kAllocatable{{"cpu", model::Quantity::from_units(4)},
                                       {"memory", model::Quantity::from_units(8)},
                                       {"pods", model::Quantity::from_units(110)}};

EvictionPrice price_of_moving(const model::Pod& moved, std::optional<int> evictions_left = {}) {
  return eviction_price(moved, {.node_price = 2,
                                .allocatable = kAllocatable,
                                .evictions_left = evictions_left,
                                .now = kNow});
}

TEST(EvictionPrice, IsLittleForAnOrdinaryPod) {
  const auto price = price_of_moving(*pod("p"));
  EXPECT_GT(price.trouble, 0);
  EXPECT_LT(price.trouble, 0.001);
  EXPECT_EQ(price.lost_work, 0);
}

TEST(EvictionPrice, IsHigherForPodsThatAreHarderToMove) {
  const double ordinary = price_of_moving(*pod("p")).trouble;
  auto young = pod("p");
  young->status.start_time = kNow - minutes(9);
  auto important = pod("p");
  important->spec.priority = 100'000'000;
  auto dear = pod("p");
  dear->meta.annotations["controller.kubernetes.io/pod-deletion-cost"] = "100000000";
  for (const auto& each : {young, important, dear}) {
    EXPECT_GT(price_of_moving(*each).trouble, ordinary);
  }
  EXPECT_GT(price_of_moving(*pod("p"), 100).trouble, ordinary);
  EXPECT_GT(price_of_moving(*pod("p"), 1).trouble, price_of_moving(*pod("p"), 100).trouble);
  auto worthless = pod("p");
  worthless->spec.priority = -2'000'000'000;
  EXPECT_EQ(price_of_moving(*worthless).trouble, 0) << "nobody is paid for an eviction";
}

TEST(EvictionPrice, OfAJobsPodIsWhatItsPartOfTheNodeHasCostSoFar) {
  auto job = pod("p");
  job->meta.owner_references[0].kind = "Job";
  job->status.start_time = kNow - hours(3);
  EXPECT_DOUBLE_EQ(price_of_moving(*job).lost_work, 3 * 2 * 0.25) << "one CPU of four";
  job->spec.containers[0].requests["memory"] = model::Quantity::from_units(4);
  EXPECT_DOUBLE_EQ(price_of_moving(*job).lost_work, 3 * 2 * 0.5) << "half of the memory";
  job->spec.containers[0].requests["memory"] = model::Quantity::from_units(80);
  EXPECT_DOUBLE_EQ(price_of_moving(*job).lost_work, 3 * 2) << "never more than the whole node";
  job->status.start_time = kNow + hours(1);
  EXPECT_EQ(price_of_moving(*job).lost_work, 0);
  job->status.start_time.reset();
  EXPECT_EQ(price_of_moving(*job).lost_work, 0);
}

}  // namespace
}  // namespace millwright::disruption
