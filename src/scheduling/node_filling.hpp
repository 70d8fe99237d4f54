// Room on nodes that exist is worth what it would cost to buy: to the pods that are dearest on new
// machines most of all. First come, first served gives it to the largest.
//
//     a node with 1 CPU and 40 GiB left        first come          dearest first
//                                              1 CPU,  1 GiB       four of 0.25 CPU, 10 GiB
#pragma once

#include "scheduling/existing_nodes.hpp"
#include "scheduling/packing.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// What pods are taken to be worth. Where new machines are few and large, or there are many lots,
// the program's prices say little.
enum class NodeValues : std::uint8_t {
  AsPaid,     // what they pay on the claims that they are on
  ByProgram,  // what buying room for one more would cost, nodes filled at best: see NodeProgram
};

// Which pods to put on which nodes, as indices into PodClasses::pods and ExistingNodes::nodes():
// what Strategy::placed wants. Pods that other pods, holds or preferences matter to are left where
// the packing has them. Empty when there is no use in it, or too much to look at.
std::vector<std::pair<std::uint32_t, std::uint32_t>> dearest_on_nodes(
    const PodClasses& pods, std::span<const PoolTemplate> pools, const ExistingNodes& nodes,
    const Topology& topology, Packing& packing, NodeValues by);

}  // namespace millwright::scheduling
