#include "extender/policy/daemon_room.hpp"

#include "millwright/scheduling/requirements.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>

namespace millwright::extender {
namespace {

constexpr std::string_view kPreferNoSchedule = "PreferNoSchedule";
// The DaemonSet controller gives its pods tolerations for these (not-ready, disk-pressure, ...).
constexpr std::string_view kNodeConditionTaints = "node.kubernetes.io/";
// What is known is of nodes that may be gone, and keeps their objects alive. So many more than
// there are nodes are remembered, for small clusters.
constexpr std::size_t kMoreThanNodes = 64;

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
  pod.spec = daemon_set.pod_template.spec;  // once for each DaemonSet, not for each node
  for (auto* const containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (model::Container& container : *containers) {
      container.requests.insert(container.limits.begin(), container.limits.end());
    }
  }
  return scheduling::effective_requests(pod);
}

// The API server gives each object a uid, and raises its generation with each change of the spec.
// One without either is of a file or a test: only the same object is the same.
bool has_same_spec(const DaemonSetPtr& one, const DaemonSetPtr& other) {
  return one == other ||
         (one->meta.generation > 0 && one->meta.generation == other->meta.generation &&
          !one->meta.uid.empty() && one->meta.uid == other->meta.uid);
}

}  // namespace

bool runs_on(const model::DaemonSet& daemon_set, const scheduling::NodeRecord& record) {
  const model::PodSpec& spec = daemon_set.pod_template.spec;
  if (!tolerates(spec, record)) {
    return false;
  }
  const auto labels = scheduling::Requirements::from_labels(record.labels());
  const auto admits = [&labels](const model::PodSpec& alternative) {
    return labels.compatible(scheduling::strict_pod_requirements(alternative),
                             scheduling::AllowUndefined::None);
  };
  // Required node affinity terms are alternatives; the algebra reads the first.
  if (admits(spec)) {
    return true;
  }
  if (spec.affinity.required_node_terms.size() < 2) {
    return false;
  }
  model::PodSpec rest = spec;
  auto& terms = rest.affinity.required_node_terms;
  while (terms.size() > 1) {
    terms.erase(terms.begin());
    if (admits(rest)) {
      return true;
    }
  }
  return false;
}

void DaemonRoom::follow(const std::vector<DaemonSetPtr>& daemon_sets) {
  if (daemon_sets_ == daemon_sets) {
    return;
  }
  // The status of each changes with every node that joins, and says nothing about what it requests.
  const bool same = std::equal(daemon_sets_.begin(), daemon_sets_.end(), daemon_sets.begin(),
                               daemon_sets.end(), has_same_spec);
  daemon_sets_ = daemon_sets;
  if (same) {
    return;
  }
  known_.clear();
  requests_.clear();
  for (const auto& daemon_set : daemon_sets_) {
    requests_.push_back(template_requests(*daemon_set));
  }
}

const model::ResourceList& DaemonRoom::expected(const scheduling::NodeRecord& record,
                                                const scheduling::Snapshot& snapshot) {
  follow(snapshot.daemon_sets);
  if (known_.size() > 2 * snapshot.nodes.size() + kMoreThanNodes) {
    known_.clear();
  }
  Known& known = known_[record.name()];
  if (known.node != record.node || known.claim != record.claim) {
    known = {record.node, record.claim, {}};
    for (std::size_t i = 0; i < daemon_sets_.size(); ++i) {
      if (runs_on(*daemon_sets_[i], record)) {
        model::add_to(known.expected, requests_[i]);
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
