// Karpenter's consolidation, played by its published rules with the parts that our own decisions
// are made of: emptiness; multi-node consolidation (a binary search over prefixes of at most 100
// candidates, sorted by what is saved per disruption; one new node at most); single-node
// consolidation. The planner makes its single pass then, which is Karpenter's.
// https://karpenter.sh/docs/concepts/disruption/#consolidation
#pragma once

#include "millwright/disruption/decide.hpp"

#include <optional>

namespace millwright::disruption::bench {

// What Karpenter would do next; nullopt when nothing. Timeouts are left out.
std::optional<Command> peer_decision(const Input& input);

}  // namespace millwright::disruption::bench
