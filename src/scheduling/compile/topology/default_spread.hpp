// Writes default topology spread constraints into the pods that they hold for, so that everything
// after this knows only constraints of pods.
#pragma once

#include "millwright/scheduling/solve.hpp"

namespace millwright::scheduling {

// The problem without default constraints, its pods in their order; those that the defaults hold
// for are copies.
Problem with_default_spread(Problem problem);

}  // namespace millwright::scheduling
