// What each group of pods needs, gathered for one snapshot.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace millwright::cluster {

// Thousands of pods may wait while a snapshot is made after each of them is bound. So groups stay
// known, and in order, from one snapshot to the next.
class DemandTable {
 public:
  void add_waiting(const scheduling::PodPtr& pod);
  void add_leaving(const scheduling::PodPtr& pod);
  // The pods' controller is about to create so many more pods like `sample`.
  void add_expected(const scheduling::PodPtr& sample, std::int32_t count);
  // So many pods like this one come some time, but nothing is to be planned for them.
  void add_later(const scheduling::PodPtr& pod, std::int32_t count = 1);
  // What was added since the last call.
  scheduling::Demand take();

 private:
  struct Gathered {
    scheduling::GroupDemand demand;  // of `round`
    std::uint64_t round = 0;
  };
  using Groups = std::map<scheduling::GroupId, Gathered>;
  struct Known {
    scheduling::PodPtr pod;
    Groups::iterator group;
  };
  Groups::iterator find_group(const model::Pod& pod);
  // The waiting pod's group; remembered while the pod waits.
  Groups::iterator group_of_waiting(const scheduling::PodPtr& pod);
  scheduling::GroupDemand& demand_of(Groups::iterator group, const scheduling::PodPtr& sample);

  Groups groups_;
  std::unordered_map<std::string, Known> waiting_;  // by uid
  std::uint64_t round_ = 1;
  std::size_t in_round_ = 0;  // groups that need something
};

}  // namespace millwright::cluster
