// How many pods of each group still need to be planned: what the group needs, less what is reserved
// for it on targets that are coming, less pods that kube-scheduler is about to bind.
#pragma once

#include "millwright/controllers/services.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace millwright::controllers {

class OpenDemand {
 public:
  OpenDemand(const Services& services, const scheduling::Snapshot& snapshot);

  // kube-scheduler let the pod through moments ago and is about to bind it, even if an older report
  // of Unschedulable arrives only now.
  bool is_being_bound(const model::Pod& pod) const { return being_bound_.contains(pod.meta.uid); }
  // For so many pods of the group there is a place: reserved and not about to be used, or wherever
  // kube-scheduler puts those that the snapshot does not show yet.
  std::int32_t covered(const scheduling::GroupId& group) const;
  // Pods of the group without a place; never below 0.
  std::int32_t open(const scheduling::GroupDemand& demand) const;

 private:
  std::map<scheduling::GroupId, std::int32_t> covered_;
  std::set<std::string, std::less<>> being_bound_;  // uids
};

}  // namespace millwright::controllers
