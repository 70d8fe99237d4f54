#include "scheduling/search/lots/attractions.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

// A pod that must be apart from others is worth more where it can be than one that fits anywhere.
constexpr double kExclusiveBonus = 4;
// Pods are at home on a machine if what room is worth to them is at least this part of what it is
// worth there.
constexpr double kAtHome = 0.9;

}  // namespace

const std::vector<double>& Attractions::of(const PodLots& lots, ShapeId shape) {
  const auto [found, added] = by_shape_.try_emplace(shape);
  if (!added) {
    return found->second;
  }
  const auto& prices = lots.prices(shape);
  const auto weights = with_floor(prices, lots.demand(), floor_);
  for (const Lot& lot : lots.lots()) {
    // Pods that would be better off on cheaper machines come after those at home on this one.
    const double at_home = lot.value / std::max(worth(*lot.requests, prices), 1e-300);
    const double factor = (at_home < kAtHome ? at_home * at_home * at_home : 1) *
                          (lot.exclusive ? kExclusiveBonus : 1);
    for (std::size_t c = 0; c < weights.size(); ++c) {
      found->second.push_back(weights[c] * weights[c] * factor *
                              static_cast<double>((*lot.requests)[c]));
    }
  }
  return found->second;
}

}  // namespace millwright::scheduling
