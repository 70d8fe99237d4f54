// The volumes of a drained node are detached before its instance ends: an attached volume cannot
// follow its pod to another node.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "millwright/controllers/reconciler.hpp"

namespace millwright::controllers {

// Nothing when no volume is left attached or the deadline is past, else when to look again. Keeps
// the condition VolumesDetached of the claim, if there is one.
base::Task<base::Result<Requeue>> await_volumes(Services& services, ClaimPtr claim,
                                                scheduling::NodeRecordPtr record);

}  // namespace millwright::controllers
