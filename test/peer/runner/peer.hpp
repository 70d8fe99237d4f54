// Karpenter's scheduler and its consolidation as a program beside this one. It reads scenario files
// (test/scenarios/README.md) and says what it would do, in the terms of our own plans.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/scheduling/solve.hpp"

#include <cstdint>
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
  double solve_cpu_seconds = 0;  // the same, of all its threads
};

// The program of scripts/peer, from the environment variable MILLWRIGHT_PEER; empty when unset.
std::string program_path();

struct PeerRun {
  double seconds = 0;           // each file is solved again until Solve took that long in sum
  int cpu_seconds = 0;          // that it may use, of all threads from its start; 0: any
  std::int64_t memory_mib = 0;  // address space that it may have; 0: any
};

// One plan per file, in order. An error of kind Timeout: it used up its time.
base::Result<std::vector<PeerPlan>> run_peer(const std::string& program,
                                             const std::vector<std::string>& files,
                                             const PeerRun& run = {});

// One of Karpenter's commands of removal, carried out as it was planned.
struct PeerRemoval {
  std::string method;                       // empty, multi or single
  std::vector<std::string> candidates;      // nodes that the method could choose from, sorted
  std::vector<std::string> nodes;           // that go, sorted
  std::vector<std::string> instance_types;  // of the node that is bought, cheapest first
  std::size_t moved = 0;                    // pods
  double price_after = 0;                   // per hour, of all nodes
};

// What Karpenter's removal makes of a cluster to which nothing else happens.
struct PeerSettlement {
  double before = 0;  // per hour
  double after = 0;
  std::size_t nodes = 0;  // that are left
  std::size_t evicted = 0;
  std::vector<PeerRemoval> commands;  // in order
};

// One settlement per file, in order.
base::Result<std::vector<PeerSettlement>> run_consolidation(const std::string& program,
                                                            const std::vector<std::string>& files);

// What each claim costs when the cloud takes the cheapest offering that it admits, per hour.
void price_claims(const scheduling::Problem& problem, scheduling::Plan& plan);
double total_price(const scheduling::Plan& plan);

}  // namespace millwright::peer
