#include "scheduling/packing/compiled_problem.hpp"

#include "scheduling/devices/device_memory.hpp"

#include <utility>

namespace millwright::scheduling {

CompiledProblem::CompiledProblem(const Problem& of, PlanMemory::Compiled memory)
    : problem(of),
      daemons(daemon_pods(problem)),
      pods(classify(problem, daemons)),
      rungs(pods),
      pools(pool_templates(problem, pods.columns, daemons, std::move(memory.pools))),
      nodes(problem, pods, pools, daemons, std::move(memory.nodes)),
      topology(problem, pods, pools, nodes) {}

PlanMemory::Compiled CompiledProblem::release() && {
  return {.pools = {pods.columns, daemons, learned_limits(problem), std::move(pools)},
          .nodes = {pods.columns, daemons, std::move(nodes).release()}};
}

PlanMemory::PlanMemory()
    : compiled_(std::make_unique<Compiled>()), devices_(std::make_unique<DeviceMemory>()) {}
PlanMemory::PlanMemory(PlanMemory&&) noexcept = default;
PlanMemory& PlanMemory::operator=(PlanMemory&&) noexcept = default;
PlanMemory::~PlanMemory() = default;

std::vector<PoolProblem> PlanMemory::pool_problems() const {
  std::vector<PoolProblem> problems;
  for (const auto& pool : compiled_->pools.pools) {
    if (!pool.problem.empty()) {
      problems.push_back({pool.name(), pool.problem});
    }
  }
  return problems;
}

}  // namespace millwright::scheduling
