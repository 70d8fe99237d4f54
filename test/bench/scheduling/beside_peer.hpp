// Our planner and Karpenter's scheduler on the same files, in turns: how many pods a second, and
// what the plans cost; and what ours cost when pods come one after another (arrival.hpp).
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/value.hpp>

#include <string>

namespace millwright::scheduling::bench {

struct BesideOptions {
  std::string peer;    // the program of scripts/peer
  std::string folder;  // where the workload files go
  bool full = false;   // the peer's slow cases too: an hour
  std::string only;    // "speed" or "cost"; empty: both
};

// Prints the tables as they grow. The value is {"speed": [...], "cost": [...], "arrival": [...]};
// what was not asked for is empty, and the arrivals belong to the cost. A row of speed has
// "ours_pods_per_second" and "ratio" of a solve that begins with nothing, and the same
// "_with_memory": with a PlanMemory that has planned for the catalog and the NodePools before.
base::Result<boost::json::value> beside_peer(const BesideOptions& options);

}  // namespace millwright::scheduling::bench
