// Room on nodes whose own pods changed a short while ago. Consolidation moves nobody there, but
// pods that wait and pods of nodes that are going may use it (so in Karpenter, too).
#pragma once

#include "disruption/simulation/destinations.hpp"

#include <vector>

namespace millwright::disruption {

// Destinations::other_pods() less those that have a place on such nodes: they do not want what
// consolidation counts on.
std::vector<scheduling::PodPtr> pods_without_settling_room(const Input& input,
                                                           const Destinations& destinations);

}  // namespace millwright::disruption
