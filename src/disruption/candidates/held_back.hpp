// What annotations of its NodePool hold against the consolidation of a node.
#pragma once

#include "disruption/candidates/candidate.hpp"

#include <optional>

namespace millwright::disruption {

// The node is younger than it is to be before consolidation takes it, empty or not.
std::optional<Obstacle> node_too_young(const Candidate& candidate, base::TimePoint now);
// One of the pods that would have to move has come lately; the one that came last is named.
std::optional<Obstacle> pods_too_young(const Candidate& candidate, base::TimePoint now);

}  // namespace millwright::disruption
