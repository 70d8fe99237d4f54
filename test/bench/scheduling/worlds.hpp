// Problems to measure the planner with: kwok's catalog, mixed pods, clusters of nodes. The same
// numbers give the same problem on every machine.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millwright::scheduling::bench {

// The 144 types of the kwok provider: 12 sizes, three memory ratios, two systems, two
// architectures; four zones, spot and on demand.
InstanceTypes kwok_types();
// `count` types of kwok's proportions, for larger catalogs: sizes differ a little from each other.
InstanceTypes many_types(int count);

enum class Mix : std::uint8_t {
  Plain,       // CPU and memory only
  Selective,   // some with selectors for zone, architecture or capacity type
  MemoryHeavy  // twice the memory per CPU
};
std::vector<PodPtr> some_pods(int count, Mix mix, std::uint32_t seed = 42);

// Nodes of 16 CPUs, between empty and full.
std::vector<NodeRecordPtr> some_nodes(int count, std::uint32_t seed = 7);
// The node with `count` equal pods that take the CPU and memory that is taken: a scenario file,
// which the peer reads, knows of nothing else that could.
NodeRecordPtr with_pods(const NodeRecord& node, int count);

Problem problem_of(InstanceTypes types, std::vector<PodPtr> pods,
                   std::vector<NodeRecordPtr> nodes = {});

}  // namespace millwright::scheduling::bench
