// The planner where it has it hardest (corner_worlds.hpp), beside Karpenter's scheduler: time,
// memory, and what comes of it.
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/array.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace millwright::scheduling::bench {

struct CornerOptions {
  std::string peer;    // the program of scripts/peer
  std::string folder;  // where the workload files go
  std::string only;    // the corner of that name; empty: all
  std::size_t most_pods = std::numeric_limits<std::size_t>::max();  // larger corners are left out
};

// Prints a row for each corner. Either side plans it in a process of its own, so that memory is
// that of the row, and is stopped after five minutes of CPU time; its rate is then a bound. CPU
// time is that of all threads, and is printed: it says something on a busy machine too. The rates
// and their ratio are by the clock, as in the other rows of speed. The value is
//   [{"case", "pods", "ours_pods_per_second", "peer_pods_per_second", "ratio",
//     "ours_cpu_seconds", "peer_cpu_seconds", "ours_stopped", "peer_stopped", "ours_peak_mib",
//     "peer_peak_mib", "claims_ours", "claims_peer", "ours", "peer", "refused_ours",
//     "refused_peer"}]
// where "ours" and "peer" are prices per hour; what a side that was stopped did not say is left
// out.
base::Result<boost::json::array> corners(const CornerOptions& options);

}  // namespace millwright::scheduling::bench
