// Writes default topology spread constraints into the pods that they hold for, so that everything
// after this knows only constraints of pods.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <vector>

namespace millwright::scheduling {

// `problem.pods`, in their order; those that the defaults hold for are copies.
std::vector<PodPtr> with_default_spread(const Problem& problem);

}  // namespace millwright::scheduling
