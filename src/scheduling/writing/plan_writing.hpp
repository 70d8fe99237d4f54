// From a packing to the plan that people and controllers see.
#pragma once

#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/packing/packing.hpp"

namespace millwright::scheduling {

Plan write_plan(const CompiledProblem& compiled, Packing& packing);

}  // namespace millwright::scheduling
