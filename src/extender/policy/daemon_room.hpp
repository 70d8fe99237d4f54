// What DaemonSets will still request on a node that has just started. Their pods are created with
// the node and bind within seconds; until then their room looks free. The planner counts it as
// taken, and so must the extender: otherwise another pod takes what a planned one needs.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millwright::extender {

using DaemonSetPtr = std::shared_ptr<const model::DaemonSet>;

// Remembers which DaemonSets run on which labels and taints. Thread-safe.
class DaemonRoom {
 public:
  // The requests of the node's DaemonSet pods that are not there yet.
  model::ResourceList missing(const scheduling::NodeRecord& record,
                              const scheduling::Snapshot& snapshot);

 private:
  struct Known {
    std::shared_ptr<const model::Node> node;
    std::shared_ptr<const model::NodeClaim> claim;
    model::ResourceList expected;
  };

  // With the mutex held:
  // Forgets what is known where what DaemonSets request, or where they run, has changed.
  void follow(const std::vector<DaemonSetPtr>& daemon_sets);
  const model::ResourceList& expected(const scheduling::NodeRecord& record,
                                      const scheduling::Snapshot& snapshot);

  std::mutex mutex_;
  std::vector<DaemonSetPtr> daemon_sets_;
  std::vector<model::ResourceList> requests_;  // of a pod of each
  std::map<std::string, Known, std::less<>> known_;
};

// Whether the DaemonSet controller would create a pod for that node.
bool runs_on(const model::DaemonSet& daemon_set, const scheduling::NodeRecord& record);

}  // namespace millwright::extender
