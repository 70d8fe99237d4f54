// The end of a NodeClaim that waits for no pod.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

// The claim's termination timestamp has passed: draining its node waits for nothing any more.
bool is_out_of_time(const model::NodeClaim& claim, base::TimePoint now);

// Writes that the claim's time to drain is over (annotation
// karpenter.sh/nodeclaim-termination-timestamp), unless it is already. Does not delete the claim.
ClaimReply end_drain_time(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
