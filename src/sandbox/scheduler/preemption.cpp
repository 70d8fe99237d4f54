#include "sandbox/scheduler/preemption.hpp"

#include "sandbox/scheduler/filters.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

namespace millwright::sandbox {

namespace {

bool fits(const model::Pod& pod, const NodeInfo& trimmed, std::vector<const NodeInfo*> all) {
  if (!node_reasons(pod, trimmed).empty()) {
    return false;
  }
  for (auto& node : all) {
    if (node->node->meta.name == trimmed.node->meta.name) {
      node = &trimmed;
    }
  }
  return TopologyFilter(pod, all).reasons(trimmed).empty();
}

base::TimePoint start_of(const model::Pod& pod) {
  return pod.status.start_time.value_or(pod.meta.creation_timestamp.value_or(base::TimePoint()));
}

bool is_more_important(const PodPtr& a, const PodPtr& b) {
  return std::tuple(-std::int64_t{a->spec.priority}, start_of(*a), a->meta.uid) <
         std::tuple(-std::int64_t{b->spec.priority}, start_of(*b), b->meta.uid);
}

// The pods whose end would break a budget, counting each budget's allowance down in this order.
std::set<std::string> violating(const std::vector<PodPtr>& pods,
                                std::vector<model::PodDisruptionBudget> budgets) {
  std::set<std::string> found;
  for (const auto& pod : pods) {
    for (auto& budget : budgets) {
      if (budget.meta.namespace_ == pod->meta.namespace_ && budget.selector &&
          budget.selector->matches(pod->meta.labels) && --budget.disruptions_allowed < 0) {
        found.insert(pod->meta.uid);
      }
    }
  }
  return found;
}

}  // namespace

std::map<std::string, Victims> find_victims(
    const model::Pod& pod, const std::vector<const NodeInfo*>& all,
    const std::vector<const NodeInfo*>& may_help,
    const std::vector<model::PodDisruptionBudget>& budgets) {
  std::map<std::string, Victims> candidates;
  for (const auto* node : may_help) {
    auto trimmed = *node;
    std::vector<PodPtr> lower;
    for (const auto& [uid, other] : node->pods) {
      if (other->spec.priority < pod.spec.priority) {
        lower.push_back(other);
        take_off(trimmed, *other);
      }
    }
    if (lower.empty() || !fits(pod, trimmed, all)) {
      continue;
    }
    std::sort(lower.begin(), lower.end(), is_more_important);
    const auto breaking = violating(lower, budgets);
    // Those under a budget are spared first.
    std::stable_sort(lower.begin(), lower.end(), [&](const PodPtr& a, const PodPtr& b) {
      return breaking.contains(a->meta.uid) && !breaking.contains(b->meta.uid);
    });
    Victims victims;
    for (const auto& other : lower) {
      put_on(trimmed, other);
      if (!fits(pod, trimmed, all)) {
        take_off(trimmed, *other);
        victims.pods.push_back(other);
        victims.budget_violations += breaking.contains(other->meta.uid) ? 1 : 0;
      }
    }
    std::sort(victims.pods.begin(), victims.pods.end(), is_more_important);
    if (!victims.pods.empty()) {
      candidates.emplace(node->node->meta.name, std::move(victims));
    }
  }
  return candidates;
}

std::string pick_node(const std::map<std::string, Victims>& candidates) {
  const auto rank = [](const Victims& victims) {
    std::int64_t sum = 0;
    auto latest = base::TimePoint::min();
    for (const auto& pod : victims.pods) {
      sum += pod->spec.priority;
      latest = std::max(latest, start_of(*pod));
    }
    return std::tuple(victims.budget_violations, victims.pods.front()->spec.priority, sum,
                      victims.pods.size(), -latest.time_since_epoch().count());
  };
  const auto best = std::min_element(
      candidates.begin(), candidates.end(),
      [&](const auto& a, const auto& b) { return rank(a.second) < rank(b.second); });
  return best == candidates.end() ? std::string() : best->first;
}

}  // namespace millwright::sandbox
