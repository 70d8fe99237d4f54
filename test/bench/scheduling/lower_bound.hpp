// What no plan can beat. Two bounds, both of them true ones: topology is ignored, DaemonSets take
// their part of each machine and room on existing nodes costs nothing. Per hour.
//
//     fraction of a machine     whole pods, fraction of a fill
//     ┌────────┐                ┌────────┐
//     │▒▒▒▒▒▒▒▒│ 1.4 pods       │▒▒▒▒▒▒  │ 1 pod: what is left of the room is paid for too
//     └────────┘                └────────┘
#pragma once

#include "millwright/scheduling/solve.hpp"

namespace millwright::scheduling::bench {

// The optimum of a linear program: machines of any type and offering are bought by the fraction, a
// class of pods may be split among all machines that its node selectors admit and that are large
// enough for one of them; machines that the same classes may use must together suffice for what is
// put on them, and so must each existing node.
double lower_bound(const Problem& problem);

struct WholePodsBound {
  double proved = 0;    // no plan costs less
  double of_fills = 0;  // what the fills cost that were found: the true optimum is not above it
};

// The same for machines that are bought by the fraction but filled with whole pods (Gilmore and
// Gomory's configuration program, by column generation): no plan has better fills than the best.
// What is proved is below that program's optimum, by as much as the search for fills could not
// settle in the work that it may do, and never less than lower_bound(). What a plan costs more is
// due to that, to the last, partly used fills and to the search. With thousands of pods it takes
// the fills of `plan`, too, as it comes nowhere near the optimum without; any plan gives a true
// bound.
WholePodsBound whole_pods_bound(const Problem& problem, const Plan& plan);

}  // namespace millwright::scheduling::bench
