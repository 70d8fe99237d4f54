// Drifted nodes of static pools (Karpenter's StaticDrift): each is replaced by one of the present
// template, whatever runs on it.
#pragma once

#include "disruption/survey.hpp"

#include <vector>

namespace millwright::disruption {

// One command per node that budgets and spec.limits.nodes let go at once, the longest drifted
// first. Nothing while an earlier replacement in the pool is under way.
std::vector<Command> replace_static_drifted(Survey& survey);
// A replacement chosen before may still be made.
bool may_replace_static(const Survey& survey, const Candidate& candidate);

}  // namespace millwright::disruption
