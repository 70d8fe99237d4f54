#include "millwright/telemetry/node_costs.hpp"

namespace millwright::telemetry {

std::optional<double> NodeCosts::price_of(const scheduling::NodeRecord& record) {
  if (!record.claim || record.node_pool().empty()) {
    return std::nullopt;
  }
  const auto& meta = record.claim->meta;
  const auto key = Kind(record.node_pool(), meta.label(model::kInstanceTypeLabel),
                        meta.label(model::kZoneLabel), meta.label(model::kCapacityTypeLabel));
  const auto [known, is_new] = prices_.try_emplace(key, std::nullopt);
  if (is_new) {
    const auto types = catalog_.find(record.node_pool());
    if (types != catalog_.end()) {
      known->second = scheduling::price_of(types->second, meta.labels);
    }
  }
  return known->second;
}

}  // namespace millwright::telemetry
