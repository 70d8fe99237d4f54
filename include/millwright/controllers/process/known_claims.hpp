// What a replica must know before it acts for a term: the NodeClaims that are there.
#pragma once

#include "millwright/controllers/services.hpp"

#include <stop_token>

namespace millwright::controllers {

// Waits until the state has every NodeClaim that the API server lists, but no longer than a watch
// takes to be stale (Sources::kLostFor). A watch may be late and not lost: what the leader of the
// last term bought just before it ended, this process or another, would be bought once more.
base::Task<void> wait_until_claims_are_known(Services& services, std::stop_token stop);

}  // namespace millwright::controllers
