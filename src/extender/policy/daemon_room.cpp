#include "extender/policy/daemon_room.hpp"

#include "millwright/scheduling/requirements.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>

namespace millwright::extender {
namespace {

constexpr std::string_view kPreferNoSchedule = "PreferNoSchedule";
// The DaemonSet controller gives its pods tolerations for these (not-ready, disk-pressure, ...).
constexpr std::string_view kNodeConditionTaints = "node.kubernetes.io/";

bool tolerates(const model::PodSpec& spec, const scheduling::NodeRecord& record) {
  std::vector<model::Taint> taints = record.taints();
  std::erase_if(taints, [](const model::Taint& taint) {
    return taint.effect == kPreferNoSchedule || taint.key.starts_with(kNodeConditionTaints);
  });
  return model::first_untolerated(taints, spec.tolerations) == nullptr;
}

// The API server defaults requests to limits in pods, not in templates.
model::ResourceList template_requests(const model::DaemonSet& daemon_set) {
  model::Pod pod;
  pod.spec = daemon_set.pod_template.spec;
  for (auto* const containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (model::Container& container : *containers) {
      container.requests.insert(container.limits.begin(), container.limits.end());
    }
  }
  return scheduling::effective_requests(pod);
}

}  // namespace

bool runs_on(const model::DaemonSet& daemon_set, const scheduling::NodeRecord& record) {
  model::PodSpec spec = daemon_set.pod_template.spec;
  if (!tolerates(spec, record)) {
    return false;
  }
  const auto labels = scheduling::Requirements::from_labels(record.labels());
  // Required node affinity terms are alternatives; the algebra reads the first.
  auto& terms = spec.affinity.required_node_terms;
  do {
    if (labels.compatible(scheduling::strict_pod_requirements(spec),
                          scheduling::AllowUndefined::None)) {
      return true;
    }
    if (!terms.empty()) {
      terms.erase(terms.begin());
    }
  } while (!terms.empty());
  return false;
}

const model::ResourceList& DaemonRoom::expected(const scheduling::NodeRecord& record,
                                                const scheduling::Snapshot& snapshot) {
  if (daemon_sets_ != snapshot.daemon_sets || known_.size() > kRemembered) {
    known_.clear();
    daemon_sets_ = snapshot.daemon_sets;
  }
  Known& known = known_[record.name()];
  if (known.node != record.node || known.claim != record.claim) {
    known = {record.node, record.claim, {}};
    for (const auto& daemon_set : daemon_sets_) {
      if (runs_on(*daemon_set, record)) {
        model::add_to(known.expected, template_requests(*daemon_set));
      }
    }
  }
  return known.expected;
}

model::ResourceList DaemonRoom::missing(const scheduling::NodeRecord& record,
                                        const scheduling::Snapshot& snapshot) {
  model::ResourceList missing;
  if (snapshot.daemon_sets.empty()) {
    return missing;
  }
  const std::scoped_lock lock(mutex_);
  // Nothing on nodes that have run for a while: nothing is copied for them.
  for (const auto& [resource, amount] : expected(record, snapshot)) {
    const model::Quantity left = amount - model::get(record.daemon_requests, resource);
    if (left.milli() > 0) {
      missing.emplace(resource, left);
    }
  }
  return missing;
}

}  // namespace millwright::extender
