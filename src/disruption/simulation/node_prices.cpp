#include "disruption/simulation/node_prices.hpp"

#include "disruption/candidates/candidate.hpp"

#include <algorithm>

namespace millwright::disruption {

const std::string& label_of(const model::StringMap& labels, std::string_view key) {
  static const std::string none;
  const auto found = labels.find(key);
  return found == labels.end() ? none : found->second;
}

std::optional<double> NodePrices::price_of(const scheduling::InstanceTypes& types,
                                           const scheduling::NodeRecord& record) const {
  const auto& labels = record.labels();
  const auto& capacity_type = label_of(labels, model::kCapacityTypeLabel);
  if (capacity_type == model::kReserved) {
    // Capacity reservations of one type and zone may differ in price, so all labels count.
    return scheduling::price_of(types, labels);
  }
  const Key key(types.get(), label_of(labels, model::kInstanceTypeLabel),
                label_of(labels, model::kZoneLabel), capacity_type);
  const auto [found, is_new] = prices_.try_emplace(key);
  if (is_new) {
    found->second = scheduling::price_of(types, labels);
  }
  return found->second;
}

double NodePrices::overhead_of(const Preferences& preferences) const {
  return preferences.node_overhead.value_or(input_.options.node_overhead);
}

NodePrices::PoolTotal NodePrices::total_of(const model::NodePool& pool) const {
  PoolTotal total;
  const auto types = input_.catalog.find(pool.meta.name);
  for (const auto& record : input_.snapshot->nodes) {
    if (!record->managed() || record->node_pool() != pool.meta.name) {
      continue;
    }
    if (types != input_.catalog.end()) {
      total.price += price_of(types->second, *record).value_or(0);
    }
    total.disruption += 1;
    for (const auto& pod : record->pods) {
      if (scheduling::is_reschedulable(*pod)) {
        total.disruption += std::max(0.0, eviction_cost(*pod));
      }
    }
  }
  return total;
}

}  // namespace millwright::disruption
