// Whether a removal that is simulated anew would still be what was decided.
#pragma once

#include "disruption/simulation/simulation.hpp"

#include <vector>

namespace millwright::disruption {

// As many new nodes as `then`, each with one of its own that takes its place. Drift does not look
// at prices, all others need every type of `then` to be an option still.
bool same_shape(Reason reason, const std::vector<scheduling::PlannedClaim>& then,
                SimulatedRemoval now);

}  // namespace millwright::disruption
