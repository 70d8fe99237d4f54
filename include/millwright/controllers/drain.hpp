// Which pods of a node to evict next. Pure; Karpenter's terminator and its drain tiers.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace millwright::controllers {

struct DrainStep {
  std::size_t waiting = 0;                // pods that must still go
  std::vector<scheduling::PodPtr> evict;  // the first tier that is not empty
  // Past their time: deleted with so many seconds of grace, whatever budgets or annotations say.
  std::vector<std::pair<scheduling::PodPtr, std::int64_t>> force_delete;
};

// `deadline` is the claim's termination timestamp, when it has one.
DrainStep next_drain_step(const scheduling::NodeRecord& node,
                          std::optional<base::TimePoint> deadline, base::TimePoint now);

}  // namespace millwright::controllers
