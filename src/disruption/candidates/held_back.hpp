// What annotations of its NodePool hold against the consolidation of a node.
#pragma once

#include "disruption/candidates/candidate.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace millwright::disruption {

// "the annotation millwright.io/... of NodePool default asks for (10m)"
std::string asked_for(const Candidate& candidate, std::string_view key);

// The node is younger than it is to be before consolidation takes it, empty or not.
std::optional<Obstacle> node_too_young(const Candidate& candidate, base::TimePoint now);
// One of the pods that would have to move has come lately; the one that came last is named.
std::optional<Obstacle> pods_too_young(const Candidate& candidate, base::TimePoint now);
// More of it is used than consolidation is to bother with.
std::optional<Obstacle> too_full(const Candidate& candidate);

}  // namespace millwright::disruption
