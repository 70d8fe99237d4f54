#include "extender/policy/sparing.hpp"

#include <algorithm>

namespace millwright::extender {
namespace {

// A new node of the pool takes at least what the pod requests of its limits.
bool may_grow(const model::NodePool& pool, const PodFacts& pod) {
  if (pool.meta.is_deleting() || pool.replicas || !model::is_true(pool.conditions, "Ready")) {
    return false;
  }
  const model::ResourceList none;
  const model::ResourceList& limits = pool.limits ? *pool.limits : none;
  return std::all_of(limits.begin(), limits.end(), [&](const auto& limit) {
    const model::Quantity more = limit.first == model::kNodes
                                     ? model::Quantity::from_units(1)
                                     : model::get(pod.requests, limit.first);
    return model::get(pool.resources, limit.first) + more <= limit.second;
  });
}

}  // namespace

base::Result<std::optional<base::TimePoint>> spares_until(const PodFacts& pod) {
  std::optional<base::TimePoint> until;
  if (pod.provision_first.value.empty() || pod.is_daemon || pod.is_nominated || !pod.created) {
    return until;
  }
  const auto time = base::parse_go_duration(pod.provision_first.value);
  if (!time || *time < base::Duration(0)) {
    return base::fail(base::ErrorKind::Invalid,
                      pod.provision_first.object + ": ignoring annotation " +
                          std::string(model::kProvisionInsteadOfPreemptAnnotation) + ": \"" +
                          pod.provision_first.value +
                          "\" is not a duration; write for example \"2m\"");
  }
  until = base::sum_of(*pod.created, *time).value_or(base::TimePoint::max());
  return until;
}

bool any_pool_may_grow(const PodFacts& pod, const scheduling::Snapshot& snapshot) {
  return std::any_of(snapshot.node_pools.begin(), snapshot.node_pools.end(),
                     [&pod](const auto& pool) { return may_grow(*pool, pod); });
}

void ProblemReport::tell(const std::string& problem) {
  {
    const std::scoped_lock lock(mutex_);
    if (told_.size() >= kRemembered) {
      told_.clear();
    }
    if (!told_.insert(problem).second) {
      return;
    }
  }
  if (tell_) {
    tell_(problem);
  }
}

}  // namespace millwright::extender
