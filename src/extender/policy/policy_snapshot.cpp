#include "extender/policy/policy_snapshot.hpp"

namespace millwright::extender {
namespace {

constexpr std::uint32_t kClosed = base::HashIndex::kNone - 1;  // and nothing is reserved there

}  // namespace

PolicySnapshot::PolicySnapshot(std::shared_ptr<const NodeIndex> the_nodes,
                               cluster::LedgerViewPtr the_ledger)
    : nodes(std::move(the_nodes)), ledger(std::move(the_ledger)) {
  reserved_.reserve(ledger->by_target.size());
  for (const auto& [target, reservations] : ledger->by_target) {
    watched_.put(cluster::Ledger::node_hash(target), static_cast<std::uint32_t>(reserved_.size()));
    reserved_.push_back({target, &reservations});
    any_unknown_target_ = any_unknown_target_ || nodes->find_target(target) == nullptr;
  }
  for (const std::uint64_t hash : nodes->marked()) {
    watched_.put(hash, kClosed);
  }
  for (const auto& [node, fence] : ledger->fences_by_node) {
    watched_.put(cluster::Ledger::node_hash(node), kClosed);
  }
}

const cluster::ReservationList* PolicySnapshot::reserved_on(std::uint64_t hash,
                                                            std::string_view target) const {
  const std::uint32_t number = watched_.find(hash);
  if (number >= reserved_.size()) {
    return nullptr;
  }
  if (reserved_[number].target == target) {
    return reserved_[number].list;
  }
  const auto found = ledger->by_target.find(target);
  return found == ledger->by_target.end() ? nullptr : &found->second;
}

}  // namespace millwright::extender
