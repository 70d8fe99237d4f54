// Initialization: a registered node is Ready, free of startup taints and shows what was asked for,
// devices too (Karpenter's nodeclaim.lifecycle initialization).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

// Says why the Node is not initialized yet. False: nothing is in its way, and nothing is said.
bool set_initialization_obstacle(model::ConditionSet& set, Services& services,
                                 const model::Node& node, const model::NodeClaim& claim);

ClaimReply initialize_node(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
