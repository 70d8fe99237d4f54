// The planner, step by step: compile the problem, pack, write claims, explain refusals.
#include "millwright/scheduling/solve.hpp"

#include "millwright/scheduling/plan_memory.hpp"
#include "scheduling/compile/topology/default_spread.hpp"
#include "scheduling/devices/device_planning.hpp"
#include "scheduling/packing/best_packing.hpp"
#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/writing/plan_writing.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

// A pod that finds no place with the first of its alternatives may find one with the next. Claims
// have eight at most, and each look again moves on every pod that has another.
Plan solve_with_devices(const Problem& problem, DeviceMemory& devices, PlanMemory& memory) {
  devices.begin();
  DeviceChoices choices;
  while (true) {
    const DevicePlanning planning(problem, choices, devices);
    Plan plan = planning.finish(solve(planning.problem(), memory));
    if (DeviceChoices next = choices; planning.choose_again(plan, next)) {
      choices = std::move(next);
    } else {
      return plan;
    }
  }
}

}  // namespace

Plan solve(const Problem& problem) {
  PlanMemory nothing;
  return solve(problem, nothing);
}

Plan solve(const Problem& problem, PlanMemory& memory) {
  if (!problem.options.default_spread.empty()) {
    return solve(with_default_spread(problem), memory);
  }
  if (DevicePlanning::is_needed(problem)) {
    return solve_with_devices(problem, *memory.devices_, memory);
  }
  CompiledProblem compiled(problem, std::move(*memory.compiled_));
  const auto packing = best_packing(compiled);
  Plan plan = write_plan(compiled, *packing);
  *memory.compiled_ = std::move(compiled).release();
  return plan;
}

std::size_t count_postponed(const Plan& plan) {
  const auto& all = plan.refusals;
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [](const Refusal& refusal) { return refusal.postponed; }));
}

}  // namespace millwright::scheduling
