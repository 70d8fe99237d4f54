// How many pods of each group still need to be planned: what the group needs, less what is reserved
// for it on targets that are coming, less pods that kube-scheduler is about to bind.
#pragma once

#include "millwright/controllers/services.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace millwright::controllers {

// Of a snapshot that is newer than the ledger's last change and outlives it. A group is looked at
// when it is asked for: to ask for one costs nothing for the others.
class OpenDemand {
 public:
  OpenDemand(const Services& services, const scheduling::Snapshot& snapshot);

  // kube-scheduler let the pod through moments ago and is about to bind it, even if an older report
  // of Unschedulable arrives only now.
  bool is_being_bound(const model::Pod& pod) const;
  // For so many pods of the group there is a place: reserved and not about to be used, or wherever
  // kube-scheduler puts those that the snapshot does not show yet.
  std::int32_t covered(const scheduling::GroupId& group) const;
  // Pods of the group without a place; never below 0.
  std::int32_t open(const scheduling::GroupDemand& demand) const;

 private:
  std::int32_t kept(const scheduling::GroupId& group) const;
  std::int32_t on_the_way(const scheduling::GroupId& group) const;

  const scheduling::Snapshot& snapshot_;
  cluster::LedgerViewPtr ledger_;
  base::TimePoint now_;
  std::vector<cluster::PassPtr> passes_;                      // fresh ones
  std::map<std::string_view, const cluster::Pass*> pass_of_;  // by pod uid
  std::map<scheduling::GroupId, std::vector<const cluster::Pass*>> passes_of_;
  mutable std::map<scheduling::GroupId, std::int32_t> covered_;  // of the groups asked for
};

}  // namespace millwright::controllers
