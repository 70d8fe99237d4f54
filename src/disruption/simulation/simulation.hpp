// "What if these nodes were gone?", answered by the planner on the snapshot without them.
#pragma once

#include "disruption/survey.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace millwright::disruption {

// How the planner looks for new nodes.
enum class Planning : std::uint8_t {
  Cheapest,
  OnePass,  // as Karpenter does: fewer nodes, perhaps dearer ones
};

struct SimulatedRemoval {
  // Why the candidates cannot go; nullopt when every pod has a place.
  std::optional<Why> problem;
  // New claims that would take pods of the candidates, and of nobody else.
  std::vector<scheduling::PlannedClaim> claims;
  // Of the candidates' pods, virtual ones included; indices are into `claims`.
  std::vector<scheduling::Placement> placements;
};

// None of the candidates' pods that are planned onto the claim would come, since nobody would
// create them again, and it keeps no room for a CapacityBuffer.
bool stays_empty(const Survey& survey, const scheduling::PlannedClaim& claim,
                 Candidates candidates);

// Consolidation (Underutilized) leaves alone nodes within their own consolidateAfter, and waits
// while others need new capacity. Drift uses every node, waits for nobody, and does not ask what
// pods need that nobody would create again. A pod goes to the node that `wanted` names, if it may
// go there; what has no node yet is not looked at.
SimulatedRemoval simulate_removal(const Survey& survey, Candidates candidates, Reason reason,
                                  Planning planning = Planning::Cheapest,
                                  std::span<const scheduling::Placement> wanted = {});

// See Survey::homeless().
std::set<std::string, std::less<>> find_homeless(const Survey& survey, Reason reason);

// For scheduling::Relocation: the pods of these candidates, the places that consolidation may use,
// and who else wants them.
scheduling::Problem relocation_problem(const Survey& survey, Candidates candidates);

}  // namespace millwright::disruption
