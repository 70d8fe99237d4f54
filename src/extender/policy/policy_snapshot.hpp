// What an answer is made from: the nodes and the ledger at one instant, and the nodes that the
// policy may refuse at all. In a quiet cluster that is none of five thousand.
#pragma once

#include "extender/policy/node_index.hpp"
#include "millwright/cluster/ledger.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace millwright::extender {

// A set of node name hashes. May hold more than it should, never less.
class WatchList {
 public:
  WatchList() = default;
  explicit WatchList(const std::vector<std::uint64_t>& hashes);
  bool contains(std::uint64_t hash) const;

 private:
  std::vector<std::uint64_t> slots_;  // open addressing; 0 is free
};

struct PolicySnapshot {
  PolicySnapshot(std::shared_ptr<const NodeIndex> the_nodes, cluster::LedgerViewPtr the_ledger);

  const scheduling::Snapshot& snapshot() const { return *nodes->snapshot(); }
  // Whether the node may be fenced, marked for deletion, or keep room for someone.
  bool is_watched(std::uint64_t node_hash) const {
    return all_watched_ || watched_.contains(node_hash);
  }

  std::shared_ptr<const NodeIndex> nodes;
  cluster::LedgerViewPtr ledger;

 private:
  WatchList watched_;
  bool all_watched_ = false;
};

}  // namespace millwright::extender
