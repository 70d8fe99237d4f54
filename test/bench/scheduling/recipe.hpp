// Karpenter's own scheduling benchmark: its five kinds of pods, its pods with preferences, its 400
// instance types (pkg/controllers/provisioning/scheduling/scheduling_benchmark_test.go).
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <cstdint>

namespace millwright::scheduling::bench {

// Type i has i+1 CPUs, 2(i+1) Gi and room for 10(i+1) pods; spot in two zones, on demand in three.
InstanceTypes recipe_types(int count = 400);
// A fifth each: plain, spread over zones, spread over hosts, together in a zone, one per host.
std::vector<PodPtr> diverse_pods(int count, std::uint32_t seed = 42);
// Alike; they prefer a zone, and to be apart by zone (cannot be met) and by host (can).
std::vector<PodPtr> preference_pods(int count, std::uint32_t seed = 42);

}  // namespace millwright::scheduling::bench
