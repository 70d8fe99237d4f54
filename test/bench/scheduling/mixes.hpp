// Workloads as clusters have them: Deployments of several replicas, not single pods. The same name
// and seed give the same problem on every machine.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::scheduling::bench {

struct WorkloadMix {
  std::string name;
  // GiB of memory per CPU that a Deployment asks for; it draws one of these.
  std::vector<double> ratios = {1, 2, 4, 8};
  bool big_and_small = false;  // a few pods of many CPUs, many of a tenth of one
  bool all_different = false;  // Deployments of one replica, no two of which ask for the same
  int spread_over_zones = 0;   // per cent of the Deployments
  int spread_over_hosts = 0;
  int apart_by_host = 0;   // anti-affinity to themselves
  int capacity_types = 0;  // select spot or on-demand
  int zones = 0;           // select a zone
  int architectures = 0;   // select one
  bool daemons = false;
  int nodes = 0;  // existing ones, partly full
  // No plan is free of constraints that the lower bound does not see.
  bool has_topology() const { return spread_over_zones + spread_over_hosts + apart_by_host > 0; }
};

// More than a dozen: memory per CPU from 1 to 16, then what makes packing hard.
std::vector<WorkloadMix> workload_mixes();

// A node costs kNodeOverhead.
Problem problem_of(const WorkloadMix& mix, InstanceTypes types, int pods, std::uint32_t seed);

// The program's default, per hour. All that a plan costs with it: machines and nodes.
inline constexpr double kNodeOverhead = 0.005;
double cost_of(const Plan& plan);
// The same when each claim becomes one of its instance types, all equally likely, at the cheapest
// offering that it admits.
double mean_cost_of(const Problem& problem, const Plan& plan);

}  // namespace millwright::scheduling::bench
