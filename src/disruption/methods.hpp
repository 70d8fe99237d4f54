// The two methods that do not look at prices.
#pragma once

#include "disruption/simulation.hpp"

#include <optional>
#include <vector>

namespace millwright::disruption {

// Why the candidate's emptiness does not end it now; empty when it does.
std::string not_removable_as_empty(const Candidate& candidate);

// One command for every empty node that budgets let go, best savings first.
std::vector<Command> remove_empty(Survey& survey);
// The first drifted node that can be replaced: those without pods first, then by time of drift.
std::optional<Command> replace_drifted(Survey& survey);

// What keeps the candidate from this kind of disruption besides budgets: its pods, unless drift
// may override them because the claim has a terminationGracePeriod.
const Obstacle* pods_that_keep(const Candidate& candidate, Reason reason);

}  // namespace millwright::disruption
