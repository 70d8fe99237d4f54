// The two methods that do not look at prices.
#pragma once

#include "disruption/candidates/selection.hpp"
#include "disruption/simulation/simulation.hpp"

#include <optional>
#include <vector>

namespace millwright::disruption {

// One command for all empty nodes that budgets let go, best savings first.
std::optional<Command> remove_empty(Survey& survey);
// Without looking whether they may go; nullopt without candidates.
std::optional<Command> remove_as_empty(Candidates candidates);
// The first drifted node that can be replaced: those without pods first, then by time of drift.
std::optional<Command> replace_drifted(Survey& survey);

}  // namespace millwright::disruption
