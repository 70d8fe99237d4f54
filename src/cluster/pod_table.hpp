// Pods by key, the bound ones by node with each node's totals, and the pending ones; how many each
// controller has, and what those of each namespace take of its quotas. A pod is found under its
// node's name even before the Node is known.
#pragma once

#include "cluster/demand/namespace_use.hpp"
#include "cluster/hashes.hpp"
#include "cluster/sorted_table.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <map>
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

// "web-9" before "web-10".
struct ByOrdinal {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

// The pods of one controller.
struct OwnedPods {
  // Neither terminal nor being deleted. A Job's pod that ended counts until the Job has counted it:
  // before, the Job seems to want another in its place.
  std::int32_t alive = 0;
  // How many went since the workload was heard last, or since it had all it wants; and the resource
  // version of the newest event that one went by.
  std::int32_t went = 0;
  std::string went_at;
  // The newest that was alive; stays when it is gone. Never nullptr.
  scheduling::PodPtr sample;
  // Those with claims of their own that are going or gone, as they were last, until another of the
  // name is alive. By name.
  std::map<std::string, scheduling::PodPtr, ByOrdinal> away;
};

class PodTable {
 public:
  struct Change {
    bool accepted = false;
    std::vector<std::string> nodes;                // whose pods changed
    std::vector<scheduling::PodPtr> done_waiting;  // were, and are bound, over or gone
    std::vector<scheduling::PodPtr> left;  // were bound, and are gone or over without success
    scheduling::PodPtr arrived;            // was not known before, and is not over
    std::vector<std::string> owners;       // uids of controllers whose OwnedPods changed
    std::string unplaced;  // uid of the pod, if kube-scheduler reports anew that it has no place
  };

  Change put(scheduling::PodPtr pod);
  // An empty uid removes whatever has the key.
  Change remove(const model::ObjectKey& key, std::string_view uid);

  // nullptr when there is none. Of a pod that is over little more than its identity is known.
  const model::Pod* find(const model::ObjectKey& key, std::string_view uid) const;
  // nullptr when no pod is bound there.
  const NodePods* on_node(std::string_view node) const;
  const std::vector<scheduling::PodPtr>& pending() { return pending_.items(); }
  // nullptr when none of its pods was alive or is away. Pods of DaemonSets and mirror pods are not
  // counted: nothing is bought for them.
  const OwnedPods* owned_by(std::string_view owner_uid) const;
  // The owner's workload wants so many more pods than are alive: no more can be away, and none went
  // that is not known to be wanted back once it `was_heard` since.
  void settle_owner(std::string_view owner_uid, std::int32_t missing, bool was_heard);
  // Lets go what is remembered of an owner that wants no pods, or of which that is not known, but
  // for what its pods that are still there say.
  void forget_owner(std::string_view owner_uid);
  const NamespaceUse& use() const { return use_; }

 private:
  void bind(const scheduling::PodPtr& pod);
  void unbind(const scheduling::PodPtr& pod);
  // nullptr: there was no such pod before, or there is none now.
  void count_for_owners(const scheduling::PodPtr& before, const scheduling::PodPtr& now,
                        Change& change);
  void note_away(const scheduling::PodPtr& before, const scheduling::PodPtr& now, Change& change);

  // A terminal pod is kept as its identity only, so that an older version of it is recognised; and
  // with what its controller is told by, while that counts it or waits for its successor.
  std::unordered_map<model::ObjectKey, scheduling::PodPtr, KeyHash> pods_;
  std::unordered_map<std::string, NodePods, NameHash, std::equal_to<>> nodes_;
  SortedTable<model::Pod, name_and_namespace<model::Pod>> pending_;
  std::unordered_map<std::string, OwnedPods, NameHash, std::equal_to<>> owners_;
  NamespaceUse use_;
};

}  // namespace millwright::cluster
