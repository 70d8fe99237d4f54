// What sizes and prices alone say about a removal, before anything is simulated.
#pragma once

#include "disruption/survey.hpp"

#include <cstddef>

namespace millwright::disruption {

// What Karpenter would not do must save this part of what goes: several new nodes in place of
// others, or new ones whose instances cost no less and which are only fewer. Every pod moves for
// it, and where load rises and falls such small gains are soon undone: over a day they saved less
// than 1 % and took several times the evictions (scripts/bench day). Where load stands still, nodes
// settle at prices less than 0.1 % higher for it (scripts/bench consolidate).
inline constexpr double kWorthMore = 0.15;
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
