// Plans in which CapacityBuffers take part.
#pragma once

#include "millwright/scheduling/plan_memory.hpp"

#include <set>
#include <string>

namespace millwright::controllers {

// No buffer takes what a real pod needs: where limits leave too little for both, the plan is made
// again without the buffers.
scheduling::Plan solve_for_real_pods_first(const scheduling::Problem& problem,
                                           const std::set<std::string, std::less<>>& virtual_uids,
                                           scheduling::PlanMemory& memory);

}  // namespace millwright::controllers
