// Pods by key, the bound ones by node with each node's totals, and the pending ones. A pod is found
// under its node's name even before the Node is known.
#pragma once

#include "cluster/sorted_table.hpp"
#include "millwright/scheduling/snapshot.hpp"

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

class PodTable {
 public:
  struct Change {
    bool accepted = false;
    std::vector<std::string> nodes;         // whose pods changed
    std::vector<std::string> done_waiting;  // uids of pods now bound, terminal or gone
  };

  Change put(scheduling::PodPtr pod);
  // An empty uid removes whatever has the key.
  Change remove(const model::ObjectKey& key, std::string_view uid);

  // nullptr when no pod is bound there.
  const NodePods* on_node(std::string_view node) const;
  // The pod of that key and uid is known to be bound or over.
  bool needs_no_room(const model::ObjectKey& key, std::string_view uid) const;
  const std::vector<scheduling::PodPtr>& pending() { return pending_.items(); }

 private:
  void bind(const scheduling::PodPtr& pod);
  void unbind(const scheduling::PodPtr& pod);

  struct KeyHash {
    std::size_t operator()(const model::ObjectKey& key) const {
      return std::hash<std::string>{}(key.name) * 31 + std::hash<std::string>{}(key.namespace_);
    }
  };
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  // A terminal pod is kept as its identity only, so that an older version of it is recognised.
  std::unordered_map<model::ObjectKey, scheduling::PodPtr, KeyHash> pods_;
  std::unordered_map<std::string, NodePods, NameHash, std::equal_to<>> nodes_;
  SortedTable<model::Pod, name_and_namespace<model::Pod>> pending_;
};

}  // namespace millwright::cluster
