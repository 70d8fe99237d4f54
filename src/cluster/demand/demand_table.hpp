// What each group of pods needs, gathered for one snapshot.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace millwright::cluster {

class DemandTable {
 public:
  // The pod's group; remembered while the pod waits.
  const scheduling::GroupId& group_of_waiting(const scheduling::PodPtr& pod);

  void add_waiting(const scheduling::PodPtr& pod);
  void add_leaving(const scheduling::PodPtr& pod);
  // The pods' controller is about to create so many more pods like `sample`.
  void add_expected(const scheduling::PodPtr& sample, std::int32_t count);
  // So many pods like this one come some time, but nothing is to be planned for them.
  void add_later(const scheduling::PodPtr& pod, std::int32_t count = 1);
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

}  // namespace millwright::cluster
