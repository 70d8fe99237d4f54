// The end of a NodeClaim: its nodes go first (drained by node termination), then its instance,
// then the finalizer (Karpenter's nodeclaim finalization).
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "millwright/controllers/reconciler.hpp"

namespace millwright::controllers {

base::Task<base::Result<Requeue>> finalize_claim(Services& services,
                                                 scheduling::NodeRecordPtr record);

}  // namespace millwright::controllers
