// A problem made ready for packing: pods as classes, types as tables, nodes as room, domains with
// their counts.
#pragma once

#include "millwright/scheduling/plan_memory.hpp"
#include "scheduling/compile/nodes/daemon_overhead.hpp"
#include "scheduling/compile/nodes/existing_nodes.hpp"
#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/pods/rung_index.hpp"
#include "scheduling/compile/pools/pool_template.hpp"
#include "scheduling/topology/topology.hpp"

#include <vector>

namespace millwright::scheduling {

struct PlanMemory::Compiled {
  PoolMemory pools;
  NodeMemory nodes;
};

// Its parts refer to each other and to the problem: it stays where it is.
struct CompiledProblem {
  explicit CompiledProblem(const Problem& of, PlanMemory::Compiled memory = {});
  CompiledProblem(const CompiledProblem&) = delete;
  CompiledProblem& operator=(const CompiledProblem&) = delete;

  // What is left for the next problem to use.
  PlanMemory::Compiled release() &&;

  const Problem& problem;
  std::vector<DaemonPod> daemons;
  PodClasses pods;
  RungIndex rungs;
  ById<PoolId, PoolTemplate> pools;
  ExistingNodes nodes;
  Topology topology;
};

}  // namespace millwright::scheduling
