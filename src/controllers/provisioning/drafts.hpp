// Which planned claims are full, and what the others wait for.
#pragma once

#include "controllers/provisioning/draft_timer.hpp"
#include "controllers/provisioning/planning_round.hpp"

#include <vector>

namespace millwright::controllers {

// Of each planned claim, in the order of the plan.
std::vector<bool> full_claims(const PlanningRound& round);
// The pods of those that are not full, from PlanningRound::full.
DraftTimer::Drafts drafts_of(const PlanningRound& round);

}  // namespace millwright::controllers
