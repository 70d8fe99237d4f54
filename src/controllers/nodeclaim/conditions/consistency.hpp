// Consistency: a node is as large as it was bought (Karpenter's nodeclaim.consistency, NodeShape).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

#include <optional>
#include <string>

namespace millwright::controllers {

// Names the first requested resource of which the node has less than 90 % of what its claim
// promised; empty when there is none. Only for initialised nodes: before that, the kubelet may not
// have reported every resource.
std::string inconsistency(const model::NodeClaim& claim, const model::Node& node);

// The claim's inconsistency, told in an event too; nullopt while it cannot be judged. The provider
// learns what the node has.
std::optional<std::string> compare_with_node(Services& services, const ClaimPtr& claim);
// The condition ConsistentStateFound, from what compare_with_node() returned.
void write_consistency(model::ConditionSet& set, const std::optional<std::string>& problem);

}  // namespace millwright::controllers
