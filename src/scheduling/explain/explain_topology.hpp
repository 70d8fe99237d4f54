// Why no domain is open to a pod that is held to topology groups, and what would open one.
#pragma once

#include "scheduling/packing/packing.hpp"
#include "scheduling/topology/applicant.hpp"

#include <functional>
#include <string>
#include <vector>

namespace millwright::scheduling {

struct TopologyObstacle {
  std::string reason;
  std::string remedy;
};

// Whether an instance type that would do is on sale with these values of topology keys.
using Reaches = std::function<bool(const Requirements& domains)>;

struct TopologyFindings {
  std::vector<TopologyObstacle> obstacles;
  // What is left of the domains of each key; it means something where there are no obstacles.
  Requirements open;
};

// Everything of that kind, for a new claim; no obstacles when topology is not what keeps the pod
// out.
TopologyFindings topology_obstacles(const Packing& packing, const Applicant& applicant,
                                    const Reaches& reaches);

}  // namespace millwright::scheduling
