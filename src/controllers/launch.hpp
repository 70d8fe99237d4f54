// Launch: from a durable NodeClaim to a cloud instance (Karpenter's nodeclaim.lifecycle launch).
#pragma once

#include "controllers/claim_conditions.hpp"

namespace millwright::controllers {

// The claim afterwards; nullptr when it was given up (no capacity, NodeClass not ready). An error
// means: try again later.
ClaimReply launch(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
