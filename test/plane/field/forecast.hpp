// What `millwright what-if` says of a phase before its work is done, from what kubectl prints of
// the cluster: for comparison with what comes.
#pragma once

#include "plane/field/figures.hpp"
#include "plane/field/scenarios.hpp"
#include "plane/runner/plane.hpp"

namespace millwright::field {

// Invalid where what-if cannot say it: it knows no work that is spread over time.
base::Result<Outlook> outlook_of(plane::Plane& plane, const Phase& phase);

}  // namespace millwright::field
