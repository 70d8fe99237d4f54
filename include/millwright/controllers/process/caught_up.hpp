// What a replica must know before it acts for a term: the NodeClaims and Nodes that are there.
#pragma once

#include "millwright/controllers/services.hpp"

#include <stop_token>

namespace millwright::controllers {

// Waits until the state has every NodeClaim and every Node that the API server lists, as new as it
// is there at the first list, but no longer than a watch takes to be stale (Sources::kLostFor). A
// watch may be late and not lost. What the leader of the last term, this process or another, bought
// just before it ended would be bought once more, what it launched would seem to be nobody's, and a
// machine whose Node it opened would end under its pods.
base::Task<void> wait_until_caught_up(Services& services, std::stop_token stop);

}  // namespace millwright::controllers
