#include "scheduling/claims/price_levels.hpp"

#include <algorithm>
#include <limits>

namespace millwright::scheduling {

PriceLevels::PriceLevels(const PodClasses& pods, const ById<PoolId, PoolTemplate>& pools)
    : pools_(pools) {
  std::vector<std::pair<std::size_t, double>> average;  // column, amount per pod
  for (const auto name : {model::kCpu, model::kMemory}) {
    const auto column = pods.columns.find(name);
    double total = 0;
    for (const PlannedPod& pod : pods.pods) {
      total += column ? static_cast<double>(pods.classes[pod.pod_class].requests[*column]) : 0;
    }
    if (total > 0) {
      average.emplace_back(*column, total / static_cast<double>(pods.pods.size()));
    }
  }
  for (const PoolTemplate& pool : pools) {
    auto& capacity = capacity_.emplace_back();
    for (std::size_t row = 0; row < pool.table->size(); ++row) {
      double pods_of_it = std::numeric_limits<double>::infinity();
      for (const auto& [column, amount] : average) {
        pods_of_it =
            std::min(pods_of_it, static_cast<double>(pool.room.room(row)[column]) / amount);
      }
      capacity.push_back(std::max(pods_of_it, 1e-9));
    }
  }
}

double PriceLevels::of(PoolId pool, const ClaimShape& shape, const ClaimDraft& claim) const {
  double least = std::numeric_limits<double>::infinity();
  claim.rows.for_each([&](std::size_t row) {
    least = std::min(least, row_price(pools_[pool], shape, claim, row) / capacity_[pool][row]);
  });
  return least;
}

}  // namespace millwright::scheduling
