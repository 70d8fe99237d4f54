// Which events wake which unschedulable pods.
#include "sandbox/scheduler/scheduler.hpp"

namespace millwright::sandbox {

namespace {

const auto kHelpsNobody = [](const model::Pod&) { return false; };
const auto kHelpsAnybody = [](const model::Pod&) { return true; };

bool wants_company(const model::Pod& pod) {
  return !pod.spec.affinity.required_pod_affinity.empty();
}

// Only what the scheduler itself writes differs.
bool only_conditions_differ(const model::Pod& a, const model::Pod& b) {
  auto status = a.status;
  status.conditions = b.status.conditions;
  auto meta = a.meta;
  meta.resource_version = b.meta.resource_version;
  return meta == b.meta && a.spec == b.spec && status == b.status;
}

bool placement_differs(const model::Node& a, const model::Node& b) {
  return a.meta.labels != b.meta.labels || a.taints != b.taints || a.allocatable != b.allocatable ||
         a.unschedulable != b.unschedulable;
}

}  // namespace

bool Scheduler::is_mine(const model::Pod& pod) const {
  return pod.spec.node_name.empty() && !model::is_terminal(pod) && !pod.meta.is_deleting() &&
         pod.spec.scheduler_name == options_.name && pod.spec.scheduling_gates.empty() &&
         !bindings_.contains(pod.meta.uid);
}

void Scheduler::observe(const ResourceInfo& info, const Event& event) {
  if (!running_) {
    return;
  }
  if (info.resource.kind == "Pod") {
    observe_pod(event);
  } else if (info.resource.kind == "Node") {
    observe_node(event);
  } else if (info.resource.group == "storage.k8s.io" ||
             info.resource.kind.starts_with("PersistentVolume")) {
    wake(kHelpsNobody);
  }
}

void Scheduler::wake(const std::function<bool(const model::Pod&)>& helps) {
  if (in_flight_) {
    in_flight_->woken = true;
    in_flight_->helped = in_flight_->helped || helps(*in_flight_->pod);
  }
  queue_.wake(helps, context_.now());
  signal_.notify();
}

void Scheduler::observe_pod(const Event& event) {
  const auto uid = std::string(text(*event.object, "metadata.uid"));
  if (event.change == Change::Deleted) {
    const bool was_placed = !text(*event.object, "spec.nodeName").empty();
    cache_.remove_pod(uid);
    queue_.remove(uid);
    if (in_flight_ && in_flight_->uid == uid) {
      in_flight_->gone = true;
    }
    if (was_placed) {
      wake(kHelpsAnybody);
    } else {
      wake(kHelpsNobody);
    }
    return;
  }
  const auto* entry = context_.index.pod(key_of(*event.object));
  if (entry == nullptr) {
    return;
  }
  const auto pod = entry->pod;
  cache_.set_pod(pod);
  if (!pod->spec.node_name.empty()) {
    queue_.remove(uid);
    // A pod that ended frees its room. Any other may match an affinity term that a pod waits for.
    wake(model::is_terminal(*pod) ? std::function<bool(const model::Pod&)>(kHelpsAnybody)
                                  : wants_company);
    return;
  }
  if (!is_mine(*pod)) {
    queue_.remove(uid);
    return;
  }
  if (in_flight_ && in_flight_->uid == uid) {
    in_flight_->changed = in_flight_->changed || !only_conditions_differ(*in_flight_->pod, *pod);
    in_flight_->pod = pod;
    return;
  }
  const auto* queued = queue_.find(uid);
  if (queued == nullptr) {
    queue_.add(pod);
  } else if (only_conditions_differ(*queued->pod, *pod)) {
    queue_.refresh(pod);
    return;
  } else if (queued->rejection == Rejection::Extender || queued->pod->spec != pod->spec ||
             queued->pod->meta.labels != pod->meta.labels) {
    queue_.add(pod);
  } else {
    queue_.refresh(pod);
  }
  wake(kHelpsNobody);
}

void Scheduler::observe_node(const Event& event) {
  const auto name = std::string(text(*event.object, "metadata.name"));
  if (event.change == Change::Deleted) {
    cache_.remove_node(name);
    return;
  }
  const auto found = context_.index.nodes().find(name);
  if (found == context_.index.nodes().end()) {
    return;
  }
  const auto* before = cache_.find(name);
  const bool may_help = before == nullptr || placement_differs(*before->node, *found->second);
  cache_.set_node(found->second);
  if (may_help) {
    wake(kHelpsAnybody);
  } else {
    wake(kHelpsNobody);
  }
}

}  // namespace millwright::sandbox
