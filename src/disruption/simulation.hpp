// "What if these nodes were gone?", answered by the planner on the snapshot without them.
#pragma once

#include "disruption/survey.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millwright::disruption {

using Candidates = std::span<const Candidate* const>;

struct Outcome {
  // Why the candidates cannot go; nullopt when every pod has a place.
  std::optional<Why> problem;
  // New claims that would take pods of the candidates, and of nobody else.
  std::vector<scheduling::PlannedClaim> claims;
  // Of the candidates' pods; indices are into `claims`.
  std::vector<scheduling::Placement> placements;
};

enum class Destinations : std::uint8_t {
  Settled,  // not into a node's own consolidateAfter window: consolidation
  All,      // drift
};

// Nobody of the candidates' pods planned onto the claim would come to it.
bool stays_empty(const scheduling::PlannedClaim& claim, Candidates candidates);

Outcome simulate_removal(const Survey& survey, Candidates candidates, Destinations destinations);

}  // namespace millwright::disruption
