// Registration: the Node that an instance became joins its NodeClaim and opens for pods
// (Karpenter's nodeclaim.lifecycle registration).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

// What a launched claim says until its Node joins.
void set_awaits_node(model::ConditionSet& set);

ClaimReply register_node(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
