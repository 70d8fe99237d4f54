// What came of a piece of work, as its users would see it: how long pods waited, how many machines
// were bought and given back, how many pods were evicted, what it cost. Computed from what watches
// told a recorder, so the same figures can be had of any autoscaler and of any clock.
#pragma once

#include "millwright/sandbox/recorder.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <optional>

namespace millwright::field {

// Seconds are from the work's beginning; nullopt where nothing of the kind happened.
struct Figures {
  std::optional<double> first_claim;  // until the first NodeClaim was made
  std::optional<double> all_bound;    // until the last pod was bound
  double max_pending = 0;             // seconds that a pod waited for its node
  double p99_pending = 0;
  int unbound = 0;  // pods that had no node at the end
  int claims_created = 0;
  int claims_deleted = 0;
  int evicted = 0;
  int nodes = 0;              // at the end
  double price_per_hour = 0;  // at the end
  double dollars = 0;         // spent until nothing moved any more
  double settled = 0;         // until nothing moved any more
  int requests = 0;           // of the controller to the API server
  double cpu_seconds = 0;     // of the controller
  double peak_rss_mib = 0;    // of the controller, since it was started
};

struct Window {
  base::TimePoint begin;
  base::TimePoint settled;  // the last change that counts
};

using PriceLookup = sandbox::Recorder::PriceLookup;

// All that watches can tell; evictions, requests, CPU and memory are for the caller to add.
Figures figures_of(const sandbox::Recorder& recorder, const Window& window,
                   const PriceLookup& price);

boost::json::object to_json(const Figures& figures);

}  // namespace millwright::field
