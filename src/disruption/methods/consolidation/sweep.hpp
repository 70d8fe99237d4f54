// Nodes that can all go at once without a new one, whichever they are.
#pragma once

#include "disruption/methods/consolidation/consolidation.hpp"

#include <optional>
#include <vector>

namespace millwright::disruption {

// Takes `eligible` one after the other out of the cluster, as far as the pods of each find room on
// what is left and budgets allow it; one that cannot go keeps none behind it. What is found is
// proved by a simulation of the whole, like any other group. nullopt when fewer than two can go.
std::optional<Command> sweep(Survey& survey, const std::vector<const Candidate*>& eligible);

}  // namespace millwright::disruption
