#include "extender/policy/policy_snapshot.hpp"

#include <bit>

namespace millwright::extender {
namespace {

// Zero marks a free slot.
std::uint64_t stored(std::uint64_t hash) {
  return hash == 0 ? 1 : hash;
}

}  // namespace

WatchList::WatchList(const std::vector<std::uint64_t>& hashes) {
  if (hashes.empty()) {
    return;
  }
  slots_.resize(std::bit_ceil(2 * hashes.size()));
  for (const std::uint64_t hash : hashes) {
    std::size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != 0) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = stored(hash);
  }
}

bool WatchList::contains(std::uint64_t hash) const {
  if (slots_.empty()) {
    return false;
  }
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != 0 && slots_[slot] != stored(hash)) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slots_[slot] != 0;
}

PolicySnapshot::PolicySnapshot(std::shared_ptr<const NodeIndex> the_nodes,
                               cluster::LedgerViewPtr the_ledger)
    : nodes(std::move(the_nodes)), ledger(std::move(the_ledger)) {
  std::vector<std::uint64_t> hashes = nodes->marked();
  for (const auto& [node, fence] : ledger->fences_by_node) {
    hashes.push_back(cluster::Ledger::node_hash(node));
  }
  for (const auto& [target, reservations] : ledger->by_target) {
    hashes.push_back(cluster::Ledger::node_hash(target));
    // A name that the snapshot does not have may be that of a claim whose node it does have.
    all_watched_ = all_watched_ || nodes->find_target(target) == nullptr;
  }
  watched_ = WatchList(hashes);
}

}  // namespace millwright::extender
