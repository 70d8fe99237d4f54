// Which of the instance types that a plan found for new nodes keep the whole worth while (the
// filters of Karpenter's computeConsolidation, for any number of new nodes).
#pragma once

#include "disruption/survey.hpp"

#include <optional>
#include <vector>

namespace millwright::disruption {

// Keeps of each claim the types with which all of them together cost less than `limit` per hour,
// whatever offering each launch gets; a launch must not fall back to a dearer on-demand offering
// because spot is short. Why that cannot be, else nullopt.
std::optional<Why> keep_cheaper(const Survey& survey, Candidates candidates,
                                std::vector<scheduling::PlannedClaim>& claims, double limit);

// The same message wherever it is known that nothing cheaper is sold.
Why nothing_cheaper();

}  // namespace millwright::disruption
