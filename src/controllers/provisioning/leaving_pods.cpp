#include "controllers/provisioning/leaving_pods.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace millwright::controllers {
namespace {

// Machines take longer, in nearly every cloud; and it is the grace period that pods have unless
// they ask for another.
constexpr auto kSoon = std::chrono::seconds(30);
// From the end of the grace period until the API server shows that the pod is gone: three seconds,
// and one since it writes deletionTimestamp in whole seconds, rounded down.
constexpr auto kUntilSeen = std::chrono::seconds(4);

}  // namespace

LeavingPods::LeavingPods(const scheduling::Snapshot& snapshot, base::TimePoint now) : now_(now) {
  for (const auto& pod : snapshot.pending_pods) {
    if (!pod->status.nominated_node_name.empty()) {
      nominated_.insert(pod->status.nominated_node_name);
    }
  }
}

// The successor of a DaemonSet's pod takes its room again.
bool LeavingPods::leaves_soon(const model::Pod& pod) const {
  const auto& end = pod.meta.deletion_timestamp;
  return end && *end <= now_ + kSoon && now_ < *end + kUntilSeen &&
         !model::is_owned_by_daemonset(pod) && !model::is_mirror(pod);
}

scheduling::NodeRecordPtr LeavingPods::without(const scheduling::NodeRecordPtr& record) {
  const auto leaves = [this](const auto& pod) { return leaves_soon(*pod); };
  if (record->node == nullptr || nominated_.contains(record->node->meta.name) ||
      std::none_of(record->pods.begin(), record->pods.end(), leaves)) {
    return record;
  }
  auto later = std::make_shared<scheduling::NodeRecord>(*record);
  later->pods.clear();
  later->pod_requests.clear();
  for (const auto& pod : record->pods) {
    if (leaves(pod)) {
      const base::TimePoint overdue = *pod->meta.deletion_timestamp + kUntilSeen;
      overdue_at_ = overdue_at_ ? std::min(*overdue_at_, overdue) : overdue;
    } else {
      later->pods.push_back(pod);
      model::add_to(later->pod_requests, scheduling::effective_requests(*pod));
    }
  }
  std::erase_if(later->pod_requests, [](const auto& entry) { return entry.second.is_zero(); });
  return later;
}

}  // namespace millwright::controllers
