// What each group of pods needs, gathered for one snapshot.
#pragma once

#include "millwright/cluster/ledger.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::cluster {

class DemandTable {
 public:
  // The pod's group; remembered while the pod waits.
  const scheduling::GroupId& group_of_waiting(const scheduling::PodPtr& pod);

  void add_waiting(const scheduling::PodPtr& pod);
  void add_leaving(const scheduling::PodPtr& pod);
  // The pods' controller will create so many more pods like `sample`; at once, or some time.
  void add_expected(const scheduling::PodPtr& sample, std::int32_t count, bool at_once);
  // A pod like this one comes back, but nothing is to be planned for it.
  void add_later(const scheduling::PodPtr& pod);
  // What was added since the last call.
  scheduling::Demand take();

 private:
  struct Known {
    scheduling::PodPtr pod;
    scheduling::GroupId group;
  };
  scheduling::GroupDemand& demand_of(const scheduling::GroupId& group,
                                     const scheduling::PodPtr& sample);

  std::unordered_map<std::string, Known> waiting_;  // by uid
  std::unordered_map<std::string, std::size_t> index_;
  scheduling::Demand demand_;
};

// Frees what is reserved beyond what the groups need: first on claims that may still be cancelled,
// last on nodes that are up.
void free_surplus(Ledger& ledger, const scheduling::Snapshot& snapshot);

}  // namespace millwright::cluster
