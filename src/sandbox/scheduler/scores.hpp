// Scores of feasible nodes, with the default profile's weights: NodeAffinity 2, PodTopologySpread 2
// (as even spreading of one owner's pods), TaintToleration 3, LeastAllocated 1,
// BalancedAllocation 1.
#pragma once

#include "sandbox/scheduler/cache.hpp"

#include <cstdint>
#include <vector>

namespace millwright::sandbox {

// One total per node, in their order.
std::vector<std::int64_t> in_tree_scores(const model::Pod& pod,
                                         const std::vector<const NodeInfo*>& nodes);

}  // namespace millwright::sandbox
