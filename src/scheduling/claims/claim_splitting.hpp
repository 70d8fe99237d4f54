// Two machines instead of one where sizes on sale leave a gap: 65 CPUs cost less as 64 and 2 than
// as
// 96. Karpenter leaves this to consolidation, which then moves pods that have just started.
#pragma once

#include "scheduling/claims/claim_drafts.hpp"

namespace millwright::scheduling {

// Replaces the claim by two that cost less together. False when no two do. The second becomes the
// last claim.
bool split(ClaimDrafts& drafts, ClaimId claim);

}  // namespace millwright::scheduling
