// The end of a NodeClaim that waits for no pod.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

// The claim's termination timestamp has passed: draining its node waits for nothing any more.
bool is_out_of_time(const model::NodeClaim& claim, base::TimePoint now);

// Writes that the time to drain of a claim that is being deleted is over (annotation
// karpenter.sh/nodeclaim-termination-timestamp), unless it is already; what its
// terminationGracePeriod would leave it counts no more. Success also when the claim is gone.
//
// On a claim that is not being deleted the stamp would stay: if it never is, and its node recovers,
// an ordinary removal much later would delete all pods at once. So the claim is deleted first, and
// who gets an error here asks again.
base::Task<base::Result<>> end_drain_time(Services& services, ClaimPtr claim);

}  // namespace millwright::controllers
