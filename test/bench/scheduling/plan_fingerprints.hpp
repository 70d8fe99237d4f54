// Whether two builds make the same plans: a number for each plan, of all that is in it. For work on
// the planner's speed, which must leave plans as they are.
#pragma once

#include "millwright/base/result.hpp"

#include <string>

namespace millwright::scheduling::bench {

// Prints a line for each problem as it is planned: its name, how many pods wait, and the
// fingerprint of its plan. Karpenter's recipe and preferences, the workloads of plan_cost.hpp at
// 1,000 pods, the corners. `only`: those whose names have that part; empty: all. An error when no
// problem has such a name, or when a plan with a memory is another.
base::Result<void> plan_fingerprints(const std::string& only);

}  // namespace millwright::scheduling::bench
