// Metrics and events about disruption.
#pragma once

#include "millwright/controllers/services.hpp"

#include <functional>
#include <string>
#include <vector>

namespace millwright::controllers {

// As metrics name a reason: "underutilized".
std::string metric_reason(disruption::Reason reason);

// For Input::method_done: observes the time since the method before ended, or since this call.
std::function<void(disruption::Reason, std::string_view)> evaluation_timer(Services& services);
void note_eligible(Services& services, const disruption::Decisions& decisions);
// Karpenter's count of searches that ran out of time. It stays 0: searches have no time limit here.
void count_no_timeouts(Services& services);
// The command no longer held when it was looked at again.
void note_invalid(Services& services, const disruption::Command& command);
void count_decision(Services& services, const disruption::Command& command,
                    const std::vector<scheduling::NodeRecordPtr>& nodes);
void count_taken_back(Services& services, const disruption::Command& command);

// How Balanced pools judged moves. The same move is judged and counted again in every round.
void count_scores(Services& services, const std::vector<disruption::Score>& scores);

// DisruptionBlocked or Unconsolidatable, on the Node and its NodeClaim.
void tell_blocked(Services& services, const scheduling::NodeRecord& record,
                  const disruption::Blocked& blocked);
// What the pod's annotation karpenter.sh/do-not-disrupt comes to, on the Pod.
void tell_protection(Services& services, const disruption::ProtectedPod& protection);
// DisruptionBlocked on NodePools.
void tell_spent_budgets(Services& services, const std::vector<disruption::SpentBudget>& budgets);
// ConsolidationCandidate, on the Nodes and NodeClaims of a consolidation that was decided, and
// ConsolidationApproved for the pools with consolidationPolicy Balanced among those of `scores`: on
// the Node and NodeClaim if there is one, else on the NodePool. Nothing about empty nodes.
void tell_decided(Services& services, const disruption::Command& command,
                  const std::vector<disruption::Score>& scores);
void tell_launching(Services& services, const model::NodeClaim& replacement,
                    disruption::Reason reason);
void tell_waiting(Services& services, const scheduling::NodeRecord& replacement);
void tell_terminating(Services& services, const scheduling::NodeRecord& record,
                      const std::string& reason);

}  // namespace millwright::controllers
