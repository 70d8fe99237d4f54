#include "millwright/controllers/provisioning/pod_transitions.hpp"

#include <algorithm>
#include <utility>

namespace millwright::controllers {
namespace {

// When a pod that is seen for the first time was bound, or ended, as far as its conditions tell. It
// may have been like this for days before this process began.
std::optional<base::TimePoint> told_by(const model::Pod& pod) {
  if (pod.meta.is_deleting()) {
    return std::nullopt;
  }
  std::optional<base::TimePoint> latest;
  for (const auto& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" || model::is_terminal(pod)) {
      latest = std::max(latest, condition.last_transition_time);
    }
  }
  return latest;
}

}  // namespace

void PodTransitions::upsert(const model::Pod& pod) {
  if (pod.spec.node_name.empty() || model::is_owned_by_daemonset(pod)) {
    return;
  }
  const Phase phase = model::is_terminal(pod)  ? Phase::Ended
                      : pod.meta.is_deleting() ? Phase::Terminating
                                               : Phase::Bound;
  const auto [entry, first] = last_.try_emplace(pod.meta.uid, Last{phase, pod.spec.node_name});
  if (first || entry->second.phase != phase) {
    entry->second.phase = phase;
    on_event_(pod.spec.node_name, first ? told_by(pod) : std::nullopt);
  }
}

void PodTransitions::remove(std::string_view uid) {
  const auto found = last_.find(std::string(uid));
  if (found != last_.end()) {
    const Last last = std::move(found->second);
    last_.erase(found);
    // The object of a pod that has ended may be kept for an hour, or until nobody knows when.
    if (last.phase != Phase::Ended) {
      on_event_(last.node, std::nullopt);
    }
  }
}

}  // namespace millwright::controllers
