// What a planned claim may become: every instance type and offering that its requirements leave to
// the cloud.
#pragma once

#include "checker/plan/kube_filters.hpp"
#include "millwright/scheduling/solve.hpp"

#include <string>
#include <vector>

namespace millwright::checker {

struct ClaimOutcome {
  const scheduling::InstanceType* type = nullptr;
  const scheduling::Offering* offering = nullptr;
  Machine machine;
};

// Machines without pods, less what DaemonSets will take.
std::vector<ClaimOutcome> outcomes_of(const scheduling::Problem& problem,
                                      const scheduling::PoolOption& option,
                                      const scheduling::PlannedClaim& claim,
                                      const std::string& name);

// What the DaemonSets of the problem want on a node like this.
model::ResourceList daemons_on(const scheduling::Problem& problem, const Machine& machine);

}  // namespace millwright::checker
