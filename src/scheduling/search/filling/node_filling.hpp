// Chooses the pods for existing nodes. Room there is worth what it would cost to buy, so it should
// go to the pods that are dearest on new machines. The fast pass gives it to the largest pods:
//
//     a node with 1 CPU and 40 GiB left        largest first       dearest first
//                                              1 CPU,  1 GiB       four of 0.25 CPU, 10 GiB
#pragma once

#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/packing/packing.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// What a pod is taken to be worth.
enum class NodeValues : std::uint8_t {
  AsPaid,  // what it pays on the claim that it is on
  // Its dual price when nodes and new machines are filled together, see ColumnGeneration. Says
  // little where new machines are few and large.
  ByProgram,
};

// Pods and the nodes to put them on, for Strategy::placed. Pods with rules about other pods, with
// promised room or with preferences stay where the packing has them. Empty when nothing can be
// saved, or when there is too much to look at.
std::vector<std::pair<PodId, NodeId>> dearest_on_nodes(const CompiledProblem& compiled,
                                                       Packing& packing, NodeValues by);

}  // namespace millwright::scheduling
