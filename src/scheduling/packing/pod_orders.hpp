// Orders in which to place the pods of a problem. Karpenter's (CPU, then memory, descending) fills
// a claim with pods that are alike, so its machine has CPU or memory to spare. The others pair
// pods that are heavy in memory with pods that are heavy in CPU, so that what a claim has been
// asked for keeps the proportions of some machine on sale.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/pools/pool_template.hpp"

#include <span>
#include <vector>

namespace millwright::scheduling {

// Each order names every pod once.
std::vector<PodId> karpenters_order(const PodClasses& pods);
// None when the pods are all alike.
std::vector<std::vector<PodId>> other_orders(const PodClasses& pods,
                                             std::span<const PoolTemplate> pools);

}  // namespace millwright::scheduling
