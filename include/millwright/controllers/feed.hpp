// The informers that keep cluster::State up to date. Every replica runs them.
#pragma once

#include "millwright/controllers/pod_transitions.hpp"
#include "millwright/controllers/services.hpp"

#include <stop_token>

namespace millwright::controllers {

// `transitions` sees every pod event that the state sees.
// Lists and watches every kind that decisions need, and sets State::set_synced once all were
// listed. Kinds whose CRD is missing are retried, and do not hold up the others' sync for ever:
// only Pod, Node, NodePool and NodeClaim are waited for.
base::Task<void> run_feed(Services& services, PodTransitions& transitions, std::stop_token stop);

}  // namespace millwright::controllers
