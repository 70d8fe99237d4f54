#include "millwright/disruption/node_repair.hpp"

#include "disruption/candidates/budgets.hpp"

#include <algorithm>

namespace millwright::disruption {
namespace {

const model::Condition* symptom_of(const model::Node& node, const model::RepairPolicy& policy) {
  const auto* found = model::find_condition(node.conditions, policy.condition);
  return found != nullptr && found->status == policy.status ? found : nullptr;
}

bool is_broken(const model::Node& node, model::RepairPolicies policies) {
  return std::any_of(policies.begin(), policies.end(), [&](const model::RepairPolicy& policy) {
    return symptom_of(node, policy) != nullptr;
  });
}

base::TimePoint began(const model::Condition& condition, const model::Node& node) {
  return condition.last_transition_time.value_or(
      node.meta.creation_timestamp.value_or(base::TimePoint{}));
}

}  // namespace

std::optional<Ailment> find_ailment(const model::Node& node, model::RepairPolicies policies) {
  std::optional<Ailment> first;
  for (const auto& policy : policies) {
    const auto* symptom = symptom_of(node, policy);
    if (symptom == nullptr) {
      continue;
    }
    // A node can write any time into its conditions.
    const auto due = base::sum_of(began(*symptom, node), policy.toleration);
    if (due && (!first || *due < first->due)) {
      first = Ailment{.condition = symptom->type, .due = *due};
    }
  }
  return first;
}

NodeHealth::NodeHealth(const scheduling::Snapshot& snapshot, model::RepairPolicies policies) {
  for (const auto& record : snapshot.nodes) {
    if (!record->node) {
      continue;
    }
    const std::size_t broken = is_broken(*record->node, policies) ? 1 : 0;
    const auto count = [broken](HealthCount& health) {
      ++health.nodes;
      health.broken += broken;
    };
    count(cluster_);
    if (const auto& pool = record->node->meta.label(model::kNodePoolLabel); !pool.empty()) {
      count(by_pool_[pool]);
    }
  }
}

HealthCount NodeHealth::of_pool(std::string_view pool) const {
  const auto found = by_pool_.find(pool);
  return found == by_pool_.end() ? HealthCount{} : found->second;
}

bool repairs_within_budgets(const model::NodePool& pool) {
  return parse_preferences(pool.meta.annotations).repair_within_budgets;
}

bool budgets_allow_repair(const model::NodePool& pool, const scheduling::Snapshot& snapshot,
                          const scheduling::NodeRecord& broken, base::TimePoint now) {
  int nodes = 0;
  int going = 0;
  for (const auto& record : snapshot.nodes) {
    if (record->node_pool() == pool.meta.name && counts_in_budgets(*record)) {
      ++nodes;
      going += record->marked_for_deletion && record->claim_name() != broken.claim_name() ? 1 : 0;
    }
  }
  return going < allowed_by_budgets(pool, nodes, std::nullopt, now);
}

}  // namespace millwright::disruption
