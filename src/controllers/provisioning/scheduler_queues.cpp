#include "controllers/provisioning/scheduler_queues.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

// That a gate holds a pod the API server writes, and of its own pods the kubelet writes.
const model::Condition* report_of_scheduler(const model::Pod& pod) {
  const auto* const report = model::find_condition(pod.status.conditions, "PodScheduled");
  return report == nullptr || report->reason == "SchedulingGated" || model::is_mirror(pod) ? nullptr
                                                                                           : report;
}

}  // namespace

void SchedulerQueues::note(const model::Pod& pod) {
  const model::Condition* const report = report_of_scheduler(pod);
  if (report == nullptr || !pod.meta.creation_timestamp) {
    return;
  }
  const base::TimePoint created = *pod.meta.creation_timestamp;
  const base::TimePoint at = report->last_transition_time.value_or(created);
  Queue& queue = queues_.try_emplace(pod.spec.scheduler_name, Queue{at, {}}).first->second;
  queue.moved = std::max(queue.moved, at);
  if (!model::is_owned_by_daemonset(pod)) {
    auto& youngest = queue.youngest_created.try_emplace(pod.spec.priority, created).first->second;
    youngest = std::max(youngest, created);
  }
}

// Pods of higher priority are tried first, whenever they came.
bool SchedulerQueues::has_passed_over(const Queue& queue, const model::Pod& pod,
                                      base::TimePoint created) {
  return std::any_of(
      queue.youngest_created.begin(), queue.youngest_created.upper_bound(pod.spec.priority),
      [&](const auto& youngest) { return youngest.second - created > kLongestTurn; });
}

void SchedulerQueues::look(const scheduling::Snapshot& snapshot) {
  queues_.clear();
  for (const auto& pod : snapshot.pending_pods) {
    note(*pod);
  }
  for (const auto& record : snapshot.nodes) {
    for (const auto& pod : record->pods) {
      note(*pod);
    }
  }
}

bool SchedulerQueues::is_about_to_try(const model::Pod& pod, const scheduling::Snapshot& snapshot,
                                      base::TimePoint now) {
  const base::TimePoint created = pod.meta.creation_timestamp.value_or(now);
  if (now - created <= kLongestTurn) {
    return true;
  }
  if (!looked_at_ || now - *looked_at_ >= kBetweenLooks) {
    look(snapshot);
    looked_at_ = now;
  }
  const auto queue = queues_.find(pod.spec.scheduler_name);
  return queue != queues_.end() && now - queue->second.moved <= kLongestTurn &&
         !has_passed_over(queue->second, pod, created);
}

}  // namespace millwright::controllers
