// Liveness: a claim that does not launch or register in time is given up (Karpenter's
// nodeclaim.lifecycle liveness).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "millwright/controllers/reconciler.hpp"

namespace millwright::controllers {

// When to look again; nullopt: the claim has registered, or was given up.
base::Task<base::Result<Requeue>> check_liveness(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
