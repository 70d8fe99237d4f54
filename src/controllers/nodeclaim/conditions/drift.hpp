// Drift: the claim is no longer what its NodePool, its NodeClass or the cloud would give now
// (Karpenter's nodeclaim.disruption, drift).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

#include <string>

namespace millwright::controllers {

// The reason for the condition Drifted; empty when it has not drifted.
base::Task<base::Result<std::string>> drift_of(Services& services, ClaimPtr claim,
                                               std::shared_ptr<const model::NodePool> pool);

}  // namespace millwright::controllers
