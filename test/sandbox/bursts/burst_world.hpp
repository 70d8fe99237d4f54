// The parts that random bursts are made of.
#pragma once

#include "millwright/base/random.hpp"
#include "support/virtual_cluster.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::test {

inline constexpr std::uint64_t kBlocks = 8;
inline constexpr std::uint64_t kSeedsPerBlock = 25;

// MILLWRIGHT_BURST_SEED runs one seed alone (in the first block), to look at it closely.
std::vector<std::uint64_t> seeds_of(std::uint64_t block);
void tell(std::uint64_t seed, std::string_view what, const std::string& name);

// How fast pods of ReplicaSets arrive: from 5 to 500 a second, slow as often as fast.
double draw_pods_per_second(base::Random& random);

boost::json::value container(int milli_cpu, int mebibytes);
boost::json::value deployment(const std::string& name, int replicas, int milli_cpu, int mebibytes);

// A NodePool "default" of kwok's on-demand types that have fewer CPUs than that, and its class.
// `disruption`: its spec.disruption, as a flow mapping.
std::string kwok_pool(int cpus_below, std::string_view disruption);
void create_pool(VirtualCluster& cluster, std::string_view manifest);
void create(VirtualCluster& cluster, const model::Resource& resource, boost::json::value object);
void scale(VirtualCluster& cluster, const std::string& deployment, int replicas);

// An edit of the NodePool, so that every node is replaced.
void drift_all_nodes(VirtualCluster& cluster);
// Until nothing moves any more.
void settle(VirtualCluster& cluster);

bool all_run(const sandbox::Recorder& recorder);
// Claims made because pods had no room, and not in place of nodes that were chosen for removal.
std::size_t claims_for_demand(VirtualCluster& cluster);

// Looks at every event whether a group has more room reserved than it needs, as the extender sees
// both.
class SurplusWatch {
 public:
  explicit SurplusWatch(VirtualCluster& cluster);
  // One sentence for each group that did, the first time.
  const std::vector<std::string>& found() const;
  // At groups with reservations.
  std::size_t looks() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace millwright::test
