// Registration: the Node that an instance became joins its NodeClaim and opens for pods
// (Karpenter's nodeclaim.lifecycle registration).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

// What a launched claim says until its Node joins.
void set_awaits_node(model::ConditionSet& set);

// What registration writes on the Node is stored, though the claim may not say so yet. What others
// have changed since, such as startup taints that they took off, stays as they left it.
bool is_registered_for(const model::Node& node, const model::NodeClaim& claim);

ClaimReply register_node(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
