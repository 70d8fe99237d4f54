#include "bench/consolidate/clusters.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace millwright::disruption::bench {

scheduling::InstanceTypes small_types(const scheduling::InstanceTypes& types) {
  constexpr std::int64_t kMostCpus = 16;
  std::vector<scheduling::InstanceType> small;
  for (const auto& type : *types) {
    if (model::get(type.capacity, model::kCpu) <= model::Quantity::from_units(kMostCpus)) {
      small.push_back(type);
    }
  }
  return std::make_shared<const std::vector<scheduling::InstanceType>>(std::move(small));
}

namespace {

// What removal comes to is compared by the price of instances alone.
scheduling::Problem workload_of(const scheduling::bench::WorkloadMix& mix,
                                const scheduling::InstanceTypes& types, int pods,
                                std::uint32_t seed) {
  auto problem = scheduling::bench::problem_of(mix, types, pods, seed);
  for (auto& option : problem.pools) {
    option.node_overhead = 0;
  }
  return problem;
}

}  // namespace

LiveCluster cluster_of(scheduling::bench::WorkloadMix mix, const scheduling::InstanceTypes& types,
                       int nodes, std::uint32_t seed) {
  constexpr int kSample = 1000;
  mix.nodes = 0;
  const LiveCluster sample(workload_of(mix, types, kSample, seed));
  const auto pods = static_cast<int>(static_cast<std::size_t>(nodes) * kSample / sample.nodes());
  return LiveCluster(workload_of(mix, types, std::max(pods, 1), seed));
}

}  // namespace millwright::disruption::bench
