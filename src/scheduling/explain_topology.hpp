// Why no domain is open to a pod that is held to topology groups, and what would open one.
#pragma once

#include "scheduling/claim_drafts.hpp"
#include "scheduling/packing.hpp"

#include <functional>
#include <string>
#include <vector>

namespace millwright::scheduling {

struct TopologyObstacle {
  std::string reason;
  std::string remedy;
};

// Whether an instance type that would do is on sale with this one value of a topology key.
using Reaches = std::function<bool(const Requirement& domain)>;

// Everything of that kind, for a new claim; none when topology is not what keeps the pod out.
std::vector<TopologyObstacle> topology_obstacles(const Packing& packing, const Candidate& candidate,
                                                 const Reaches& reaches);

}  // namespace millwright::scheduling
