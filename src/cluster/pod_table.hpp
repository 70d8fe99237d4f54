// Pods by key, the bound ones by node with each node's totals, and the pending ones; and how many
// each controller has. A pod is found under its node's name even before the Node is known.
#pragma once

#include "cluster/hashes.hpp"
#include "cluster/sorted_table.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::cluster {

struct NodePods {
  std::vector<scheduling::PodPtr> pods;  // sorted by uid
  model::ResourceList requests;          // without zero entries
  model::ResourceList daemon_requests;
};

// The pods of one controller.
struct OwnedPods {
  std::int32_t alive = 0;     // neither terminal nor being deleted
  scheduling::PodPtr sample;  // the newest that was alive; stays when it is gone; never nullptr
};

class PodTable {
 public:
  struct Change {
    bool accepted = false;
    std::vector<std::string> nodes;                // whose pods changed
    std::vector<scheduling::PodPtr> done_waiting;  // now bound, terminal or gone
    std::vector<std::string> owners;               // uids of controllers whose OwnedPods changed
    std::string unplaced;  // uid of the pod, if kube-scheduler reports anew that it has no place
  };

  Change put(scheduling::PodPtr pod);
  // An empty uid removes whatever has the key.
  Change remove(const model::ObjectKey& key, std::string_view uid);

  // nullptr when no pod is bound there.
  const NodePods* on_node(std::string_view node) const;
  const std::vector<scheduling::PodPtr>& pending() { return pending_.items(); }
  // nullptr when none of its pods was alive. Pods of DaemonSets and mirror pods are not counted:
  // nothing is bought for them.
  const OwnedPods* owned_by(std::string_view owner_uid) const;
  // Lets the sample of an owner go that will have no pods again, as long as it has none.
  void forget_owner_without_pods(std::string_view owner_uid);

 private:
  void bind(const scheduling::PodPtr& pod);
  void unbind(const scheduling::PodPtr& pod);
  // nullptr: there was no such pod before, or there is none now.
  void count_for_owners(const model::Pod* before, const scheduling::PodPtr& now, Change& change);

  // A terminal pod is kept as its identity only, so that an older version of it is recognised.
  std::unordered_map<model::ObjectKey, scheduling::PodPtr, KeyHash> pods_;
  std::unordered_map<std::string, NodePods, NameHash, std::equal_to<>> nodes_;
  SortedTable<model::Pod, name_and_namespace<model::Pod>> pending_;
  std::unordered_map<std::string, OwnedPods, NameHash, std::equal_to<>> owners_;
};

}  // namespace millwright::cluster
