// Karpenter's disruption budgets.
#pragma once

#include "millwright/disruption/decide.hpp"

#include <optional>

namespace millwright::disruption {

// The least that any active budget for the reason allows of `nodes`; INT_MAX without one. An
// unreadable budget allows nothing, whatever its reasons.
int allowed_by_budgets(const model::NodePool& pool, int nodes, Reason reason, base::TimePoint now);

// When a schedule of the pool next opens or closes.
std::optional<base::TimePoint> next_budget_change(const model::NodePool& pool, base::TimePoint now);

}  // namespace millwright::disruption
