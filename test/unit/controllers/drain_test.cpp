#include "millwright/controllers/termination/drain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace millwright::controllers {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr base::TimePoint kNow{std::chrono::hours(1'000)};

model::Pod pod(const std::string& name) {
  model::Pod result;
  result.meta.name = name;
  result.meta.uid = name;
  result.spec.node_name = "node";
  result.status.phase = "Running";
  return result;
}

model::Pod daemon(const std::string& name) {
  auto result = pod(name);
  result.meta.owner_references.push_back(
      {.api_version = "apps/v1", .kind = "DaemonSet", .name = "d", .uid = "d", .controller = true});
  return result;
}

model::Pod critical(model::Pod result) {
  result.spec.priority_class_name = "system-cluster-critical";
  return result;
}

model::Pod deleting(model::Pod result, base::TimePoint when) {
  result.meta.deletion_timestamp = when;
  return result;
}

scheduling::NodeRecord node_with(std::vector<model::Pod> pods) {
  scheduling::NodeRecord record;
  for (auto& each : pods) {
    record.pods.push_back(std::make_shared<const model::Pod>(std::move(each)));
  }
  return record;
}

std::vector<std::string> names(const std::vector<scheduling::PodPtr>& pods) {
  std::vector<std::string> result;
  for (const auto& each : pods) {
    result.push_back(each->meta.name);
  }
  return result;
}

TEST(Drain, EvictsTierByTier) {
  std::vector<model::Pod> pods{critical(daemon("critical-daemon")), critical(pod("critical")),
                               daemon("daemon"), pod("plain")};
  const std::vector<std::string> order{"plain", "daemon", "critical", "critical-daemon"};
  for (const auto& expected : order) {
    const auto step = next_drain_step(node_with(pods), std::nullopt, kNow);
    EXPECT_EQ(step.waiting, pods.size());
    EXPECT_THAT(names(step.evict), ElementsAre(expected));
    std::erase_if(pods, [&](const auto& each) { return each.meta.name == expected; });
  }
  EXPECT_EQ(next_drain_step(node_with(pods), std::nullopt, kNow).waiting, 0U);
}

TEST(Drain, ATierThatIsStillEndingHoldsUpTheNext) {
  const auto step = next_drain_step(node_with({deleting(pod("ending"), kNow), daemon("daemon")}),
                                    std::nullopt, kNow);
  EXPECT_EQ(step.waiting, 2U);
  EXPECT_THAT(step.evict, IsEmpty());
}

TEST(Drain, LeavesWhatToleratesTheTaintAndWhatIsStuck) {
  auto tolerant = pod("tolerant");
  tolerant.spec.tolerations.push_back({.op = "Exists"});
  const auto step = next_drain_step(
      node_with({tolerant, deleting(pod("stuck"), kNow - seconds(61))}), std::nullopt, kNow);
  EXPECT_EQ(step.waiting, 0U);
}

TEST(Drain, TakesAGraceBeyondAllTimeForALongOne) {
  auto endless = pod("endless");
  endless.spec.termination_grace_period_seconds = std::numeric_limits<std::int64_t>::max();
  const auto step = next_drain_step(node_with({endless}), kNow + seconds(60), kNow);
  ASSERT_EQ(step.force_delete.size(), 1U);
  EXPECT_EQ(step.force_delete.front().second, 60);
}

TEST(Drain, WaitsForDoNotDisruptUntilTheDeadlineForcesIt) {
  auto precious = pod("precious");
  precious.meta.annotations[std::string(model::kDoNotDisruptAnnotation)] = "true";
  precious.spec.termination_grace_period_seconds = 20;
  const base::TimePoint deadline = kNow + seconds(60);
  const auto early = next_drain_step(node_with({precious}), deadline, kNow);
  EXPECT_EQ(early.waiting, 1U);
  EXPECT_THAT(early.evict, IsEmpty());
  EXPECT_THAT(early.force_delete, IsEmpty());
  const auto late = next_drain_step(node_with({precious}), deadline, deadline - seconds(19));
  ASSERT_EQ(late.force_delete.size(), 1U);
  EXPECT_EQ(late.force_delete.front().second, 19);
  const auto past = next_drain_step(node_with({precious}), deadline, deadline + seconds(5));
  ASSERT_EQ(past.force_delete.size(), 1U);
  EXPECT_EQ(past.force_delete.front().second, 1);
}

}  // namespace
}  // namespace millwright::controllers
