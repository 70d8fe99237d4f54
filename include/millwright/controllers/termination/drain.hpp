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
  // Pods whose grace period would end after the deadline, with the seconds of grace that are left.
  // They are deleted whatever budgets or annotations say.
  std::vector<std::pair<scheduling::PodPtr, std::int64_t>> force_delete;
};

// The annotation karpenter.sh/nodeclaim-termination-timestamp: by then the node must be empty.
std::optional<base::TimePoint> termination_deadline(const scheduling::NodeRecord& node);

// `deadline` as termination_deadline() says.
DrainStep next_drain_step(const scheduling::NodeRecord& node,
                          std::optional<base::TimePoint> deadline, base::TimePoint now);

}  // namespace millwright::controllers
