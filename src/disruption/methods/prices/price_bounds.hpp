// What sizes and prices alone say about a removal, before anything is simulated.
#pragma once

#include "disruption/survey.hpp"

#include <cstddef>

namespace millwright::disruption {

// Several new nodes in place of others must save this part of what those cost: they have costs that
// no price list shows, and every pod moves.
inline constexpr double kWorthSeveral = 0.03;
// In place of more nodes than these, one new node at most is considered, of a single pass, unless
// the program over the whole cluster names the nodes: several would be a plan from scratch, which
// takes long, and whose steps can be had one by one.
inline constexpr std::size_t kMostForSeveral = 16;

// Some pod of the candidate is too large for any free room. What stands for buffers is left out.
bool any_homeless(const Survey& survey, const Candidate& candidate);

// The pods that are too large for any free room need new nodes, and no such nodes cost less than
// `cost` per hour; `only_one`: no such node does. While a cluster does not change, this spares
// nearly every simulation.
bool is_hopeless(const Survey& survey, Candidates candidates, double cost, bool only_one);

}  // namespace millwright::disruption
