// Initialization: a registered node is Ready, free of startup taints and shows what was asked for
// (Karpenter's nodeclaim.lifecycle initialization).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

ClaimReply initialize_node(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
