// What a pod may ask for where it asks for too much.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/pools/pool_template.hpp"

#include <string>

namespace millwright::scheduling {

struct Reduction {
  std::string change;
  RowSet rows;  // those that hold the pod after it
};

// The least reduction with which one of `rows` holds the pods of the class; none of them does now.
Reduction least_reduction(const PoolTemplate& pool, const PodClasses& pods,
                          const PodClass& pod_class, const RowSet& rows);

}  // namespace millwright::scheduling
