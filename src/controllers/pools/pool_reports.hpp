// Events on NodePools.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/scheduling/plan_memory.hpp"

#include <vector>

namespace millwright::controllers {

// Karpenter's NoCompatibleInstanceTypes: pods wait, and the pool can do nothing for any of them.
void tell_pool_problems(Services& services, const scheduling::Snapshot& snapshot,
                        const std::vector<scheduling::PoolProblem>& problems);

// Conditions whose status is not what it was on `before`; as Karpenter does, by an event whose
// reason is the condition's type. A condition that was not there before is no news.
void tell_transitions(Services& services, const model::NodePool& before,
                      const std::vector<model::Condition>& now);

}  // namespace millwright::controllers
