#include "millwright/controllers/provisioning/pod_transitions.hpp"

namespace millwright::controllers {

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
    on_event_(pod.spec.node_name);
  }
}

void PodTransitions::remove(std::string_view uid) {
  const auto found = last_.find(std::string(uid));
  if (found != last_.end()) {
    const std::string node = found->second.node;
    last_.erase(found);
    on_event_(node);
  }
}

}  // namespace millwright::controllers
