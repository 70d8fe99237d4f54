// Decisions about removal, each carried out on a cluster, until no more are made.
#pragma once

#include "bench/consolidate/live_cluster.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace millwright::disruption::bench {

using Decide = std::function<std::vector<Command>(const Input&)>;

std::vector<Command> ours_next(const Input& input);
// By Karpenter's rules: emptiness, then its consolidation, both played with the parts that our
// decisions are made of.
std::vector<Command> karpenters_next(const Input& input);

struct Outcome {
  double price = 0;
  std::size_t nodes = 0;
  std::size_t evicted = 0;
  int rounds = 0;
  double seconds = 0;      // of CPU, of all decisions
  double slowest = 0;      // of one
  double first_price = 0;  // after the first round
  bool stopped = false;    // before nothing more was found: it has taken too long
};

// Called for each command when it has been carried out; `seconds`: of CPU, of the decision.
using Seen = std::function<void(const Command& command, double seconds)>;

// Stops once decisions have taken `most_seconds` of CPU together.
Outcome settle(LiveCluster cluster, const Decide& decide, const Seen& seen = {},
               double most_seconds = std::numeric_limits<double>::infinity());

}  // namespace millwright::disruption::bench
