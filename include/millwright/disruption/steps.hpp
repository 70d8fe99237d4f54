// Whether the next step of a command may begin (Command::steps). Pure, like decide.hpp.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <string>
#include <vector>

namespace millwright::disruption {

// Whether the nodes of the claims `next` may be drained while those of `begun` are, or have been,
// drained by the same command:
// - no pod on them is protected, and no PodDisruptionBudget of theirs is used up, now;
// - no pod of the same PodDisruptionBudgets is still to be evicted from the nodes of `begun`;
// - no controller with pods on them would be left without any that runs while another of its pods
//   is on its way or may come later. Jobs apart: their pods work each for itself.
// Millwright's own rules, for the time between the steps; Karpenter drains all nodes at once.
bool may_be_drained(const scheduling::Snapshot& snapshot, const std::vector<std::string>& next,
                    const std::vector<std::string>& begun, base::TimePoint now);

}  // namespace millwright::disruption
