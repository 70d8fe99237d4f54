#include "controllers/provisioning/leaving_pods.hpp"

#include "millwright/scheduling/solve.hpp"
#include "unit/cluster/objects.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

using testing::at;
using testing::NodeBuilder;
using testing::PodBuilder;

constexpr std::int64_t kPlanTime = 1'000;

scheduling::PodPtr pod_ending(const std::string& name, std::optional<std::int64_t> end,
                              bool of_daemon_set = false) {
  PodBuilder builder(name);
  builder.on("n").requests(500);
  if (of_daemon_set) {
    builder.owned_by_daemon_set();
  }
  auto pod = builder.value();
  if (end) {
    pod.meta.deletion_timestamp = at(*end);
  }
  return std::make_shared<const model::Pod>(std::move(pod));
}

scheduling::NodeRecordPtr node_with(std::vector<scheduling::PodPtr> pods) {
  auto record = std::make_shared<scheduling::NodeRecord>();
  record->node = NodeBuilder("n").allocatable(4000).build();
  for (const auto& pod : pods) {
    model::add_to(record->pod_requests, scheduling::effective_requests(*pod));
  }
  record->pods = std::move(pods);
  return record;
}

TEST(LeavingPods, AreLeftOutWhenTheyAreGoneBeforeAMachineCouldCome) {
  struct Case {
    std::string_view title;
    scheduling::PodPtr pod;
    bool counts;
  };
  for (const auto& [title, pod, counts] : std::vector<Case>{
           {"it stays", pod_ending("p", std::nullopt), true},
           {"the usual grace period", pod_ending("p", kPlanTime + 30), false},
           {"a long one", pod_ending("p", kPlanTime + 31), true},
           {"its end is just over", pod_ending("p", kPlanTime - 3), false},
           {"it has overstayed", pod_ending("p", kPlanTime - 4), true},
           {"its DaemonSet makes another", pod_ending("p", kPlanTime + 30, true), true},
       }) {
    const auto record = node_with({pod_ending("other", std::nullopt), pod});
    const auto later = LeavingPods({}, at(kPlanTime)).without(record);
    EXPECT_EQ(later->pods.size(), counts ? 2U : 1U) << title;
    EXPECT_EQ(later == record, counts) << title;
  }
}

TEST(LeavingPods, LeaveTheirRoom) {
  const auto record = node_with({pod_ending("a", std::nullopt), pod_ending("b", kPlanTime + 5)});
  LeavingPods leaving({}, at(kPlanTime));
  const auto later = leaving.without(record);
  EXPECT_EQ(later->pod_requests, node_with({pod_ending("a", std::nullopt)})->pod_requests);
  EXPECT_EQ(leaving.overdue_at(), at(kPlanTime + 9));
}

TEST(LeavingPods, LeaveNothingToOthersWhereAPodIsNominated) {
  scheduling::Snapshot snapshot;
  auto waiting = PodBuilder("urgent").value();
  waiting.status.nominated_node_name = "n";
  snapshot.pending_pods.push_back(std::make_shared<const model::Pod>(std::move(waiting)));
  const auto record = node_with({pod_ending("victim", kPlanTime + 5)});
  LeavingPods leaving(snapshot, at(kPlanTime));
  EXPECT_EQ(leaving.without(record), record);
  EXPECT_EQ(leaving.overdue_at(), std::nullopt);
}

}  // namespace
}  // namespace millwright::controllers
