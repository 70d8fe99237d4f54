// Machines of a problem: nodes as they are, and what a planned claim may become: every instance
// type and offering that its requirements leave to the cloud.
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

// A claim that may become any node of the pool.
scheduling::PlannedClaim anything_of(const scheduling::PoolOption& option);

// A node with the pods that stay on it, less what is kept for DaemonSets and other pods.
// `usable`: the problem lets pods go there.
Machine machine_of(const scheduling::Problem& problem, const scheduling::NodeRecord& record,
                   bool usable);

}  // namespace millwright::checker
