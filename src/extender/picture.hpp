// Everything an answer is made from, of one instant: the nodes, the ledger, and which nodes the
// policy can have anything against at all. In a quiet cluster that is none of five thousand.
#pragma once

#include "extender/node_index.hpp"
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

struct Picture {
  // Take the view before the snapshot: a hold that is gone from the view then has its pod in the
  // snapshot.
  Picture(std::shared_ptr<const NodeIndex> the_nodes, cluster::LedgerViewPtr the_ledger);

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
