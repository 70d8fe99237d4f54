// Moves the pods of small claims into room that other claims have paid for. Claims that were opened
// to keep prices apart, or came last, often fit.
#pragma once

#include "scheduling/claims/claim_drafts.hpp"

namespace millwright::scheduling {

// Claims left empty vanish, which changes the ids of those after them.
void dissolve_small_claims(ClaimDrafts& drafts);

}  // namespace millwright::scheduling
