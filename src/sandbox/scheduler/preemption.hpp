// DefaultPreemption for one pod: which pods of lower priority would be evicted from each node, and
// on which node the least would be lost. Pure.
#pragma once

#include "sandbox/scheduler/cache.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::sandbox {

struct Victims {
  std::vector<PodPtr> pods;  // the most important first
  int budget_violations = 0;
};

// By node name. `may_help` are the nodes that were refused for reasons an eviction can change.
std::map<std::string, Victims> find_victims(const model::Pod& pod,
                                            const std::vector<const NodeInfo*>& all,
                                            const std::vector<const NodeInfo*>& may_help,
                                            const std::vector<model::PodDisruptionBudget>& budgets);

// Empty when there is no candidate.
std::string pick_node(const std::map<std::string, Victims>& candidates);

}  // namespace millwright::sandbox
