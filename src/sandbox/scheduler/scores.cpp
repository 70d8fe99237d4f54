#include "sandbox/scheduler/scores.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <cmath>

namespace millwright::sandbox {

namespace {

constexpr std::int64_t kMax = 100;

double used_share(const NodeInfo& info, const model::ResourceList& more, std::string_view name) {
  const auto total = model::get(info.node->allocatable, name).as_double();
  if (total <= 0) {
    return 1;
  }
  const auto used = (model::get(info.requested, name) + model::get(more, name)).as_double() / total;
  return std::clamp(used, 0.0, 1.0);
}

std::int64_t least_allocated(const NodeInfo& info, const model::ResourceList& more) {
  const auto free = 2.0 - used_share(info, more, "cpu") - used_share(info, more, "memory");
  return static_cast<std::int64_t>(free / 2.0 * static_cast<double>(kMax));
}

std::int64_t balanced(const NodeInfo& info, const model::ResourceList& more) {
  const auto difference =
      std::abs(used_share(info, more, "cpu") - used_share(info, more, "memory"));
  return static_cast<std::int64_t>((1.0 - difference / 2.0) * static_cast<double>(kMax));
}

std::int64_t preferred_affinity(const model::Pod& pod, const model::Node& node) {
  std::int64_t sum = 0;
  for (const auto& preferred : pod.spec.affinity.preferred_node_terms) {
    if (model::matches(preferred.term, node.meta.labels, node.meta.name)) {
      sum += preferred.weight;
    }
  }
  return sum;
}

std::int64_t soft_taints(const model::Pod& pod, const model::Node& node) {
  return std::count_if(node.taints.begin(), node.taints.end(), [&](const model::Taint& taint) {
    return taint.effect == "PreferNoSchedule" &&
           std::none_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                        [&](const model::Toleration& t) { return t.tolerates(taint); });
  });
}

std::int64_t siblings(const model::Pod& pod, const NodeInfo& info) {
  const auto* owner = pod.meta.controller();
  if (owner == nullptr) {
    return 0;
  }
  return std::count_if(info.pods.begin(), info.pods.end(), [&](const auto& entry) {
    const auto* other = entry.second->meta.controller();
    return other != nullptr && other->uid == owner->uid;
  });
}

// To 0..100 by the largest value; `reverse` when less is better.
void normalise(std::vector<std::int64_t>& values, bool reverse) {
  const auto most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  for (auto& value : values) {
    value = most == 0 ? (reverse ? kMax : 0)
                      : (reverse ? kMax - value * kMax / most : value * kMax / most);
  }
}

}  // namespace

std::vector<std::int64_t> in_tree_scores(const model::Pod& pod,
                                         const std::vector<const NodeInfo*>& nodes) {
  const auto requests = scheduling::effective_requests(pod);
  std::vector<std::int64_t> affinity;
  std::vector<std::int64_t> taints;
  std::vector<std::int64_t> spread;
  std::vector<std::int64_t> totals;
  for (const auto* info : nodes) {
    affinity.push_back(preferred_affinity(pod, *info->node));
    taints.push_back(soft_taints(pod, *info->node));
    spread.push_back(siblings(pod, *info));
    totals.push_back(least_allocated(*info, requests) + balanced(*info, requests));
  }
  normalise(affinity, false);
  normalise(taints, true);
  normalise(spread, true);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    totals[i] += 2 * affinity[i] + 3 * taints[i] + 2 * spread[i];
  }
  return totals;
}

}  // namespace millwright::sandbox
