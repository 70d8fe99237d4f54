// Why no domain is open to a pod that is held to topology groups, and what would open one.
#pragma once

#include "scheduling/claim_drafts.hpp"
#include "scheduling/packing.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::scheduling {

struct TopologyObstacle {
  std::string reason;
  std::string remedy;
};

// Everything of that kind, for a new claim of the shape, on instance types of `rows`; none when
// topology is not what keeps the pod out.
std::vector<TopologyObstacle> topology_obstacles(Packing& packing, const Candidate& candidate,
                                                 std::uint32_t shape, const RowSet& rows);

}  // namespace millwright::scheduling
