// How a cluster loses pods.
#pragma once

#include "bench/consolidate/live_cluster.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::disruption::bench {

enum class Deleted : std::uint8_t {
  AtRandom,
  ByReplicaSets,  // each gives up as many, in the order in which its controller would
  Deployments,    // whole ones, chosen at random
};

std::string_view to_string(Deleted how);

// The names of about so many per cent of the cluster's pods. The same for the same cluster and
// seed.
std::vector<std::string> pods_to_delete(const LiveCluster& cluster, Deleted how, int per_cent,
                                        std::uint32_t seed);

}  // namespace millwright::disruption::bench
