// Room that is up and takes pods, but is not where kube-scheduler will let another pod of its group
// go, not even when all others that have room are bound. Others of the group may have taken places
// that its spread allows no second time, for example. kube-scheduler then does not ask the
// extender, so nothing else tells of it.
#pragma once

#include "millwright/cluster/ledger.hpp"
#include "millwright/scheduling/solve.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::controllers {

class MisplacedRoom {
 public:
  struct Found {
    scheduling::GroupId group;
    std::vector<std::string> targets;  // all that is up of the group's
  };
  // Of groups of which a pod has been reported unschedulable and none is being bound. One is looked
  // at when nothing was reserved or bound for it for a second, as binding others may make room
  // right, and again every second. A call looks at two groups at most; the others' turn comes in
  // the calls after it. By `solve` the planner knows devices and default spread constraints.
  std::vector<Found> look(const scheduling::SnapshotPtr& snapshot,
                          const cluster::LedgerView& ledger,
                          const std::vector<cluster::PassPtr>& passes, base::TimePoint now,
                          const scheduling::SolveOptions& solve);

 private:
  struct Standstill {
    std::int32_t reserved = 0;
    std::size_t waiting = 0;
    base::TimePoint look_at;
  };
  std::map<scheduling::GroupId, Standstill> standing_;
};

// Pods of the group may go where its room is only after others, which wait for room that is not up
// yet. A group without spread or affinity does not wait for others.
bool may_wait_for_others(const scheduling::GroupId& group, const scheduling::Snapshot& snapshot,
                         const cluster::LedgerView& ledger);

}  // namespace millwright::controllers
