// Why a pod was refused, and the smallest change that would have placed it. Looked at only for
// refused pods, once per class.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/pools/pool_template.hpp"
#include "scheduling/packing/packing.hpp"

#include <string>
#include <vector>

namespace millwright::scheduling {

struct Explanation {
  std::string reason;
  std::string remedy;
  std::vector<Change> changes{};
};

// `packing` in the state that the plan ended in.
Explanation explain(const Problem& problem, const PodClasses& pods, const PodClass& pod_class,
                    const ById<PoolId, PoolTemplate>& pools, Packing& packing);

}  // namespace millwright::scheduling
