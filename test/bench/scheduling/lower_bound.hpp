// What no plan can beat: the price of the pods' requests bought by the fraction of a machine.
#pragma once

#include "millwright/scheduling/solve.hpp"

namespace millwright::scheduling::bench {

// The optimum of the linear program "cover CPU, memory and pod count at least cost", where any
// fraction of any type in its cheapest offering may be bought; pods that select on-demand are bound
// to those prices, other selectors are ignored.
double lower_bound(const Problem& problem);

}  // namespace millwright::scheduling::bench
