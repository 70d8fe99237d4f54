// What no plan can beat: the price of the pods' requests bought by the fraction of a machine.
#pragma once

#include "millwright/scheduling/solve.hpp"

namespace millwright::scheduling::bench {

// The optimum of a linear program: machines of any type and offering are bought by the fraction, a
// class of pods may be split among all kinds of machines that its node selectors admit and that
// are large enough for one of them, and what machines of one kind have together must cover what is
// put on them. DaemonSets take their part of each machine and free room on existing nodes costs
// nothing. Topology is ignored, so the bound is loose where pods must be spread or kept apart. Per
// hour.
double lower_bound(const Problem& problem);

}  // namespace millwright::scheduling::bench
