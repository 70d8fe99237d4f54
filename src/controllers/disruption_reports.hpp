// What is told about disruption: metrics, and events on NodeClaims and their Nodes.
#pragma once

#include "millwright/controllers/services.hpp"

#include <functional>
#include <string>
#include <vector>

namespace millwright::controllers {

// As metrics name a reason: "underutilized".
std::string metric_reason(disruption::Reason reason);

// To be called on the thread that decides as each method ends: the time since the one before, or
// since this was made.
std::function<void(disruption::Reason, std::string_view)> evaluation_timer(Services& services);
void note_eligible(Services& services, const disruption::Decisions& decisions);
// There, and 0, from the start. Looking for nodes has no time limit here, so 0 it stays.
void count_no_timeouts(Services& services);
void count_invalid(Services& services, const disruption::Command& command);
void count_decision(Services& services, const disruption::Command& command,
                    const std::vector<scheduling::NodeRecordPtr>& nodes);
void count_taken_back(Services& services, const disruption::Command& command);

// How Balanced pools judged what they looked at; a move that stays as it is, is judged again in
// every round.
void count_scores(Services& services, const std::vector<disruption::Score>& scores);

// DisruptionBlocked or Unconsolidatable, on the Node and its NodeClaim.
void tell_blocked(Services& services, const scheduling::NodeRecord& record,
                  const disruption::Blocked& blocked);
// DisruptionBlocked on NodePools.
void tell_spent_budgets(Services& services, const std::vector<disruption::SpentBudget>& budgets);
void tell_launching(Services& services, const model::NodeClaim& replacement,
                    disruption::Reason reason);
void tell_waiting(Services& services, const scheduling::NodeRecord& replacement);
void tell_terminating(Services& services, const scheduling::NodeRecord& record,
                      const std::string& reason);

}  // namespace millwright::controllers
