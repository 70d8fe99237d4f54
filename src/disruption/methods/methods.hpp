// The two methods that do not look at prices.
#pragma once

#include "disruption/candidates/selection.hpp"
#include "disruption/simulation/simulation.hpp"

#include <optional>
#include <vector>

namespace millwright::disruption {

// One command for every empty node that budgets let go, best savings first.
std::vector<Command> remove_empty(Survey& survey);
// The first drifted node that can be replaced: those without pods first, then by time of drift.
std::optional<Command> replace_drifted(Survey& survey);

}  // namespace millwright::disruption
