// Pods that are being deleted and will be gone before a new machine could be there. A plan counts
// their room as free: the pods of a rolling update move into what the old ones leave. Karpenter
// counts such pods until they are gone. It can, because it plans a second or more after the last
// pod came, when most of them are.
//
// A pod that overstays its grace period counts again, and what was planned into its room is bought
// for. Nothing is reserved in such room: it is kube-scheduler's the moment it is free.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <optional>
#include <set>
#include <string_view>

namespace millwright::controllers {

class LeavingPods {
 public:
  LeavingPods(const scheduling::Snapshot& snapshot, base::TimePoint now);

  // The node as it will be: a copy without such pods, or the record itself when there are none.
  scheduling::NodeRecordPtr without(const scheduling::NodeRecordPtr& record);
  // When the first pod that was left out will have overstayed; nullopt: none was.
  std::optional<base::TimePoint> overdue_at() const { return overdue_at_; }

 private:
  bool leaves_soon(const model::Pod& pod) const;

  base::TimePoint now_;
  // Nodes where kube-scheduler evicts pods for others that wait: the room is theirs.
  std::set<std::string_view> nominated_;
  std::optional<base::TimePoint> overdue_at_;
};

}  // namespace millwright::controllers
