// The order in which the nodes of a command go.
#pragma once

#include "disruption/survey.hpp"

#include <vector>

namespace millwright::disruption {

// First all nodes whose pods need no new node: they wait for none. Then those that share new nodes,
// each such set in a step of its own. A step is divided further so that it evicts no more pods of a
// PodDisruptionBudget than are allowed now, and of a controller with several pods that run never
// all (Jobs apart); one node is never divided.
//
// Whatever becomes of later steps, each must have been worth it with those before it, and is proved
// by a simulation of them without the later ones. Pods without rules about other pods need no such
// proof: where they fit beside all that move, they fit beside some of these. What is not proved
// goes with the next step; all together are proved by the command.
//
// One step: nodes that are empty or have drifted, and nodes of NodePools with consolidationPolicy
// Balanced, which was asked about the whole. `candidates`: of all the command's claims.
std::vector<Step> steps_of(const Survey& survey, Candidates candidates, const Command& command);

}  // namespace millwright::disruption
