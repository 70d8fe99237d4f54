#include "scheduling/search/lots/attractions.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

// A pod that must be apart from others is worth more where it can be than one that fits anywhere.
constexpr double kExclusiveBonus = 4;
// Pods are at home on a machine if what room is worth to them is at least this part of what it is
// worth there.
constexpr double kAtHome = 0.9;
// Numbers that are kept, 16 MiB of them. With more shapes and lots than that they are worked out
// again, which takes no longer than the look over the lots that follows.
constexpr std::size_t kMaxKept = std::size_t{1} << 21;

}  // namespace

Suitors::Suitors(std::vector<LotId> of, std::span<const double> by_lot, const Amounts& usual)
    : lots(std::move(of)), position(lots.size()) {
  const std::size_t columns = usual.size();
  std::vector<std::pair<double, std::uint32_t>> order;
  order.reserve(lots.size());
  for (std::uint32_t place = 0; place < lots.size(); ++place) {
    order.emplace_back(-worth(usual, by_lot.subspan(place * columns, columns)), place);
  }
  std::sort(order.begin(), order.end());
  attraction.assign(blocks() * columns * kBlock, 0);
  most.assign(blocks() * columns, 0);
  in_blocks.reserve(lots.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const std::uint32_t place = order[i].second;
    in_blocks.push_back(place);
    position[place] = i;
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = by_lot[place * columns + c];
      const std::size_t at = i / kBlock * columns + c;
      attraction[at * kBlock + i % kBlock] = value;
      most[at] = std::max(most[at], value);
    }
  }
}

SuitorsPtr Attractions::of(const PodLots& lots, ShapeId shape, ShapeId like) {
  if (const auto found = known_.find({shape, like}); found != known_.end()) {
    return found->second;
  }
  std::vector<LotId> suitors = lots.meeting(shape);
  const auto& prices = lots.prices(like);
  const auto weights = with_floor(prices, lots.demand(), floor_);
  std::vector<double> attraction;
  attraction.reserve(suitors.size() * weights.size());
  for (const LotId id : suitors) {
    const Lot& lot = lots.lots()[id];
    // Pods that would be better off on cheaper machines come after those at home on this one.
    const double at_home = lot.value / std::max(worth(*lot.requests, prices), 1e-300);
    const double factor = (at_home < kAtHome ? at_home * at_home * at_home : 1) *
                          (lot.exclusive ? kExclusiveBonus : 1);
    for (std::size_t c = 0; c < weights.size(); ++c) {
      attraction.push_back(weights[c] * weights[c] * factor *
                           static_cast<double>((*lot.requests)[c]));
    }
  }
  auto result = std::make_shared<const Suitors>(std::move(suitors), attraction, lots.demand());
  if (kept_ > kMaxKept) {
    known_.clear();
    kept_ = 0;
  }
  kept_ += result->attraction.size();
  known_.emplace(std::pair{shape, like}, result);
  return result;
}

}  // namespace millwright::scheduling
