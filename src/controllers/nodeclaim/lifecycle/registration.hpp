// Registration: the Node that an instance became joins its NodeClaim and opens for pods
// (Karpenter's nodeclaim.lifecycle registration).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

ClaimReply register_node(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
