// Clusters as the planner buys them, to take pods away from.
#pragma once

#include "bench/consolidate/live_cluster.hpp"
#include "bench/scheduling/mixes.hpp"

#include <cstdint>

namespace millwright::disruption::bench {

// Only types of up to 16 CPUs, so that a node has some ten pods and not a hundred.
scheduling::InstanceTypes small_types(const scheduling::InstanceTypes& types);

// A mix's pods, so many that their plan has about so many nodes.
LiveCluster cluster_of(scheduling::bench::WorkloadMix mix, const scheduling::InstanceTypes& types,
                       int nodes, std::uint32_t seed);

}  // namespace millwright::disruption::bench
