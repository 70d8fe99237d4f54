#include "scheduling/claims/reservations.hpp"

#include "scheduling/compile/nodes/launch_options.hpp"

#include <algorithm>
#include <set>

namespace millwright::scheduling {

Reservations::Reservations(std::span<const PoolTemplate> pools, const Problem& problem) {
  for (const PoolTemplate& pool : pools) {
    for (const OfferingKind& kind : pool.table->kinds()) {
      if (kind.reserved) {
        const auto [found, added] = left_.try_emplace(kind.reservation, kind.reservation_capacity);
        found->second = std::min(found->second, kind.reservation_capacity);
      }
    }
  }
  if (left_.empty()) {
    return;
  }
  for (const auto& node : problem.counted_nodes) {
    if (!is_unlaunched(*node)) {
      continue;
    }
    const Requirements wanted(node->claim->requirements);
    if (!wanted.get(model::kCapacityTypeLabel).has(model::kReserved) ||
        wanted.find(model::kCapacityTypeLabel) == nullptr) {
      continue;
    }
    std::set<std::string> used;
    for (const PoolTemplate& pool : pools) {
      for (const OfferingKind& kind : pool.table->kinds()) {
        if (kind.reserved && pool.name() == node->node_pool() &&
            wanted.compatible(kind.requirements, AllowUndefined::WellKnown)) {
          used.insert(kind.reservation);
        }
      }
    }
    for (const auto& reservation : used) {
      --left_[reservation];
    }
  }
}

bool Reservations::available(const OfferingKind& kind) const {
  const auto found = left_.find(kind.reservation);
  return found != left_.end() && found->second > 0;
}

void Reservations::take(const OfferingKind& kind) {
  --left_[kind.reservation];
}

}  // namespace millwright::scheduling
