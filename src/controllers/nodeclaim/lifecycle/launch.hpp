// Launch: from a NodeClaim that the API server has stored to a cloud instance (Karpenter's
// nodeclaim.lifecycle launch).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "controllers/nodeclaim/lifecycle/launch_failures.hpp"

namespace millwright::controllers {

// Returns the claim with its new status; nullptr when it was given up and deleted, since the cloud
// has no capacity or its NodeClass is not ready. Any other error: try again later.
ClaimReply launch(Services& services, LaunchFailures* failures, ClaimPtr claim);

}  // namespace millwright::controllers
