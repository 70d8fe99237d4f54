// Any set of nodes, with new ones in its place: m for n.
#pragma once

#include "disruption/methods/consolidation/consolidation.hpp"
#include "disruption/methods/consolidation/removal_order.hpp"

#include <optional>

namespace millwright::disruption {

// Removes what the program over the whole cluster does without, as far as budgets let it, and buys
// what is cheaper than that. What is found is proved by a simulation; then nodes that would have
// been cheaper than what is bought for their pods are left out, and it is proved again. nullopt
// when less could be saved than new nodes must save.
std::optional<Command> replace_superfluous(Survey& survey, const RemovalOrder& order);

}  // namespace millwright::disruption
