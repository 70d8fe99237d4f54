// Karpenter's scheduler as a program beside this one. It reads scenario files
// (test/scenarios/README.md) and says what it would do, in the terms of our own plans.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/scheduling/solve.hpp"

#include <optional>
#include <string>
#include <vector>

namespace millwright::peer {

struct PeerPlan {
  // Steps are all 1: the peer does not say in which order pods were decided. Prices are ours for
  // the peer's claims (price_claims); refusals have no remedy.
  scheduling::Plan plan;
  double construct_seconds = 0;  // topology, daemons, validation
  double solve_seconds = 0;      // the median of all rounds
};

// The program of scripts/peer, from the environment variable MILLWRIGHT_PEER; empty when unset.
std::string program_path();

// One plan per file, in order. Each file is solved again until Solve took `seconds` in sum.
base::Result<std::vector<PeerPlan>> run_peer(const std::string& program,
                                             const std::vector<std::string>& files,
                                             double seconds = 0);

// What each claim costs when the cloud takes the cheapest offering that it admits, per hour.
void price_claims(const scheduling::Problem& problem, scheduling::Plan& plan);
double total_price(const scheduling::Plan& plan);

}  // namespace millwright::peer
