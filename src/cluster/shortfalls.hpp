// The owners whose workload wants more pods than exist, so that pods which are still to come are
// found without a walk over all pods or workloads. An owner counts once one of its pods was seen:
// what the others will be like is known from it.
#pragma once

#include "cluster/pod_table.hpp"
#include "cluster/workload_table.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace millwright::cluster {

class Shortfalls {
 public:
  // After each change of an owner's pods or of its workload. An owner that has neither is forgotten
  // by `pods`.
  void settle(const std::string& owner_uid, const WorkloadTable& workloads, PodTable& pods);

  // Calls visit(owner_uid, missing, at_once, sample) for each owner, in the order of uids.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [owner_uid, shortfall] : by_owner_) {
      visit(owner_uid, shortfall.missing, shortfall.at_once, shortfall.sample);
    }
  }

 private:
  struct Shortfall {
    std::int32_t missing = 0;
    bool at_once = false;
    scheduling::PodPtr sample;
  };
  std::map<std::string, Shortfall, std::less<>> by_owner_;
};

}  // namespace millwright::cluster
