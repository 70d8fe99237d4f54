// The informers that keep cluster::State up to date. Every replica runs them.
#pragma once

#include "millwright/controllers/process/sources.hpp"
#include "millwright/controllers/provisioning/pod_transitions.hpp"
#include "millwright/controllers/services.hpp"

#include <stop_token>

namespace millwright::controllers {

// Watches every kind of cluster/watched_kinds.hpp that the options need, until `stop`, and calls
// State::set_synced once each was listed, or cannot be listed and can be done without (see
// cluster::FirstList). A refusal (403) of such a kind counts once the kinds without which nothing
// is decided were let through after it: the feed asks for one object of each. A kind that may not
// be listed, or whose CustomResourceDefinition is missing, is tried again. From then on each must
// be heard of, or the state is not fresh (State::set_fresh). `sources` is told of each,
// `transitions` of every pod event before the state is.
base::Task<void> run_feed(Services& services, Sources& sources, PodTransitions& transitions,
                          std::stop_token stop);

}  // namespace millwright::controllers
