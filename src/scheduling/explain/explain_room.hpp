// What a pod may ask for where it asks for too much.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/pools/pool_template.hpp"

#include <string>
#include <vector>

namespace millwright::scheduling {

struct Reduction {
  std::string change;
  RowSet rows;                    // those that hold the pod after it
  std::vector<Change> changes{};  // empty where it is no change of the pod
};

// The least reduction with which one of `rows` holds the pods of the class; none of them does now.
Reduction least_reduction(const PoolTemplate& pool, const PodClasses& pods,
                          const PodClass& pod_class, const RowSet& rows);

}  // namespace millwright::scheduling
