#include "millwright/telemetry/chronicle.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <set>

namespace millwright::telemetry {
namespace {

double seconds(base::Duration duration) {
  return std::max(0.0, std::chrono::duration<double>(duration).count());
}

const model::Condition* true_condition(const model::Pod& pod, std::string_view type) {
  const auto* found = model::find_condition(pod.status.conditions, type);
  return found != nullptr && found->status == model::ConditionStatus::True &&
                 found->last_transition_time
             ? found
             : nullptr;
}

}  // namespace

Chronicle::Chronicle(base::Metrics& metrics, base::TimePoint begun)
    : metrics_(metrics), begun_(begun) {}

void Chronicle::observe_bound(Waiting& waiting, const model::Pod& pod) {
  const auto* scheduled = true_condition(pod, "PodScheduled");
  if (waiting.bound || scheduled == nullptr) {
    return;
  }
  waiting.bound = true;
  if (!leading_) {
    return;
  }
  const base::TimePoint at = *scheduled->last_transition_time;
  if (pod.meta.creation_timestamp) {
    metrics_.observe("karpenter_pods_bound_duration_seconds",
                     "Time from a pod's creation until it is bound to a node.", {},
                     seconds(at - *pod.meta.creation_timestamp));
  }
  if (waiting.times.placed) {
    metrics_.observe("karpenter_pods_provisioning_bound_duration_seconds",
                     "Time from the first plan with a place for a pod until it is bound.", {},
                     seconds(at - *waiting.times.placed));
  }
}

void Chronicle::observe_started(const Waiting& waiting, const model::Pod& pod) {
  const auto* ready = true_condition(pod, "Ready");
  if (ready == nullptr || !leading_) {
    return;
  }
  const base::TimePoint at = *ready->last_transition_time;
  if (pod.meta.creation_timestamp) {
    metrics_.summarize("karpenter_pods_startup_duration_seconds",
                       "Time from a pod's creation until it is running and ready.", {},
                       seconds(at - *pod.meta.creation_timestamp));
  }
  if (waiting.times.placed) {
    metrics_.observe("karpenter_pods_provisioning_startup_duration_seconds",
                     "Time from the first plan with a place for a pod until it is running and "
                     "ready.",
                     {}, seconds(at - *waiting.times.placed));
  }
}

void Chronicle::pod_seen(const model::Pod& pod) {
  const std::scoped_lock lock(mutex_);
  auto found = waiting_.find(pod.meta.uid);
  if (pod.status.phase == "Pending" || pod.status.phase.empty()) {
    if (found == waiting_.end()) {
      found = waiting_.emplace(pod.meta.uid, Waiting{}).first;
      found->second.bound = !pod.spec.node_name.empty();  // when, nobody saw
    }
    observe_bound(found->second, pod);
    return;
  }
  if (found == waiting_.end()) {
    return;
  }
  observe_bound(found->second, pod);
  if (pod.status.phase != "Running" || true_condition(pod, "Ready") != nullptr) {
    observe_started(found->second, pod);
    waiting_.erase(found);
  }
}

void Chronicle::pod_gone(std::string_view uid) {
  const std::scoped_lock lock(mutex_);
  waiting_.erase(std::string(uid));
}

PlanTimes Chronicle::times_of(std::string_view uid) const {
  const std::scoped_lock lock(mutex_);
  const auto found = waiting_.find(std::string(uid));
  return found == waiting_.end() ? PlanTimes{} : found->second.times;
}

void Chronicle::solve_begun(const Pods& pods, base::TimePoint now) {
  const std::scoped_lock lock(mutex_);
  solving_ = Solve{.id = std::to_string(++solves_), .pods = pods.size(), .begun = now};
  for (const auto& pod : pods) {
    const auto found = waiting_.find(pod->meta.uid);
    if (found != waiting_.end() && !found->second.times.considered) {
      found->second.times.considered = now;
    }
  }
}

void Chronicle::decide(Waiting& waiting, bool placed, base::TimePoint now) {
  PlanTimes& times = waiting.times;
  if (!times.decided) {
    times.decided = now;
    metrics_.observe("karpenter_pods_scheduling_decision_duration_seconds",
                     "Time from a pod's first part in a plan until that plan was done.", {},
                     seconds(now - times.considered.value_or(now)));
  }
  if (placed && !times.placed) {
    times.placed = now;
  }
}

void Chronicle::solve_ended(const Pods& pods, const scheduling::Plan& plan, base::TimePoint now) {
  std::set<std::string_view> refused;
  std::set<std::string_view> postponed;
  for (const auto& refusal : plan.refusals) {
    (refusal.postponed ? postponed : refused).insert(refusal.pod_uid);
  }
  const std::scoped_lock lock(mutex_);
  solving_.reset();
  for (const auto& pod : pods) {
    const auto found = waiting_.find(pod->meta.uid);
    if (found != waiting_.end() && !postponed.contains(pod->meta.uid)) {
      decide(found->second, !refused.contains(pod->meta.uid), now);
    }
  }
}

std::optional<Chronicle::Solve> Chronicle::solving() const {
  const std::scoped_lock lock(mutex_);
  return solving_;
}

void Chronicle::eligible(std::string_view reason, std::size_t nodes) {
  const std::scoped_lock lock(mutex_);
  eligible_.insert_or_assign(std::string(reason), nodes);
}

std::map<std::string, std::size_t, std::less<>> Chronicle::eligible() const {
  const std::scoped_lock lock(mutex_);
  return eligible_;
}

}  // namespace millwright::telemetry
