// What an answer is made from: the nodes and the ledger at one instant, and the nodes that the
// policy may refuse at all. In a quiet cluster that is none of five thousand.
#pragma once

#include "extender/policy/node_index.hpp"
#include "millwright/base/hash_index.hpp"
#include "millwright/cluster/ledger.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace millwright::extender {

struct PolicySnapshot {
  PolicySnapshot(std::shared_ptr<const NodeIndex> the_nodes, cluster::LedgerViewPtr the_ledger);

  const scheduling::Snapshot& snapshot() const { return *nodes->snapshot(); }
  // Whether the node may be fenced, marked for deletion, or keep room for someone.
  bool is_watched(std::uint64_t node_hash) const {
    return any_unknown_target_ || watched_.contains(node_hash);
  }
  // What is reserved there, nullptr when nothing is; `hash` is Ledger::node_hash(target).
  const cluster::ReservationList* reserved_on(std::uint64_t hash, std::string_view target) const;
  // A name that the snapshot does not have may be that of a claim whose node it does have.
  bool any_unknown_target() const { return any_unknown_target_; }

  std::shared_ptr<const NodeIndex> nodes;
  cluster::LedgerViewPtr ledger;

 private:
  struct Reserved {
    std::string_view target;
    const cluster::ReservationList* list;
  };
  std::vector<Reserved> reserved_;
  // By the hash of its name: which of `reserved_` it is, or kClosed. A hash that two nodes share
  // makes the policy look at one node too many, never at one too few.
  base::HashIndex watched_;
  bool any_unknown_target_ = false;
};

}  // namespace millwright::extender
