// Consolidation: fewer or cheaper nodes for the same pods (Karpenter's computeConsolidation).
#pragma once

#include "disruption/simulation/simulation.hpp"

#include <optional>
#include <string>

namespace millwright::disruption {

struct Consolidation {
  std::optional<Command> command;
  std::optional<Why> problem;  // why there is none
};

// Removes all candidates together, with at most one cheaper replacement. Balanced pools' scores go
// into the survey.
Consolidation consolidate(Survey& survey, Candidates candidates);

// The largest group of candidates, by savings ratio, that can go together for at most one
// replacement; nullopt when there is none of two or more.
std::optional<Command> consolidate_many(Survey& survey);
// The first single node that can go.
std::optional<Command> consolidate_one(Survey& survey);

// Shared wording: "Underutilized: replace node a (c9.4xlarge.4) by c9.2xlarge.4, saving $0.41/h".
std::string summarize(const Command& command, Candidates candidates);

}  // namespace millwright::disruption
