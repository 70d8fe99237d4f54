// Karpenter's disruption budgets, and the windows outside of which they allow nothing.
#pragma once

#include "disruption/candidates/pool_index.hpp"
#include "millwright/disruption/decide.hpp"

#include <map>
#include <optional>
#include <string_view>

namespace millwright::disruption {

// Whether budgets count the node: it is managed and initialised, and its instance is not
// terminating yet.
bool counts_in_budgets(const scheduling::NodeRecord& record);

// The least that any active budget for the reason allows of `nodes`; INT_MAX without one. nullopt
// is a reason that no budget can name: those for all reasons concern it. An unreadable budget
// allows nothing, whatever its reasons.
int allowed_by_budgets(const model::NodePool& pool, int nodes, std::optional<Reason> reason,
                       base::TimePoint now);

// When a schedule of the pool next opens or closes.
std::optional<base::TimePoint> next_budget_change(const model::NodePool& pool, base::TimePoint now);

// How many more nodes of each pool may go now, those aside that are going or not ready.
class RemainingBudgets {
 public:
  // Both must outlive it.
  RemainingBudgets(const Input& input, const PoolIndex& pools);
  int of(const model::NodePool& pool, Reason reason) const;

 private:
  struct Count {
    int nodes = 0;
    int disrupting = 0;
  };
  base::TimePoint now_;
  const PoolIndex& pools_;
  std::map<std::string_view, Count> counts_;  // by pool
};

}  // namespace millwright::disruption
