// The part of Repacking that chooses: which machine a claim is meant to be, which pods suit it.
#include "scheduling/repacking.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr double kSamePrice = 1 + 1e-9;
// Looked at for each claim: machines of each price range, and machines in all.
constexpr std::size_t kPerRange = 3;
constexpr std::size_t kMaxBuys = 16;
// A pod that must be apart from others is worth more where it can be than one that fits anywhere.
constexpr double kExclusiveBonus = 4;
// Pods are at home on a machine if what room is worth to them is at least this part of what it is
// worth there.
constexpr double kAtHome = 0.9;
// Machines this close to the best are as good.
constexpr double kSameBuy = 1.005;
// A choice of machine is made again after so many claims, or when one ends up this much dearer.
constexpr std::size_t kMaxTimes = 16;
constexpr double kAsGood = 1.01;

}  // namespace

void Repacking::look_for_lots(const PodLots& lots, std::uint32_t shape) {
  const auto& prices = lots.prices(shape);
  const auto [found, added] = attractions_.try_emplace(shape);
  if (added) {
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
  }
  scan_.begin(lots, found->second, prices);
}

const Repacking::Market& Repacking::market(const PodLots& lots, std::uint32_t shape) {
  const auto [found, added] = markets_.try_emplace(shape);
  Market& result = found->second;
  if (!added) {
    return result;
  }
  const PoolTemplate& pool = pools_[pool_];
  const ClaimShape& of = drafts_.shapes()[shape];
  const auto& prices = lots.prices(shape);
  (of.offered & pool.room.usable()).for_each([&](std::size_t row) {
    const double value = worth(pool.room.room(row), prices);
    result.by_efficiency.push_back(
        {row, of.price[row], value > 0 ? of.price[row] / value : INFINITY});
  });
  std::stable_sort(
      result.by_efficiency.begin(), result.by_efficiency.end(), [](const Buy& a, const Buy& b) {
        return a.efficiency != b.efficiency ? a.efficiency < b.efficiency : a.price < b.price;
      });
  // Types that differ in nothing but their names are one.
  const auto same = [&](const Buy& a, const Buy& b) {
    return a.price == b.price && pool.room.room(a.row) == pool.room.room(b.row);
  };
  result.by_efficiency.erase(
      std::unique(result.by_efficiency.begin(), result.by_efficiency.end(), same),
      result.by_efficiency.end());
  result.by_price = result.by_efficiency;
  std::stable_sort(result.by_price.begin(), result.by_price.end(),
                   [](const Buy& a, const Buy& b) { return a.price < b.price; });
  return result;
}

std::vector<Repacking::Buy> Repacking::worth_trying(const PodLots& lots, const Lot& lot) {
  const auto& [by_efficiency, by_price] = market(lots, lot.shape);
  const auto has_room = [&](const Buy& buy) {
    return fits(*lot.requests, pools_[pool_].room.room(buy.row));
  };
  const auto first = std::find_if(by_efficiency.begin(), by_efficiency.end(), has_room);
  std::vector<Buy> result;
  if (first == by_efficiency.end()) {
    return result;
  }
  const std::size_t needed = lots.claims_needed();
  const double fair = lots.value_left() / static_cast<double>(std::max<std::size_t>(needed, 1));
  sharing_ = needed > 1 && fair < first->price;
  if (sharing_) {
    // So many claims must be made that each gets a share of the pods: no use in large machines.
    const auto cheapest = std::find_if(by_price.begin(), by_price.end(), has_room);
    const double most = std::max(1.5 * fair, cheapest->price);
    std::vector<Buy> fitting;
    for (auto buy = cheapest; buy != by_price.end() && buy->price <= most; ++buy) {
      if (has_room(*buy)) {
        fitting.push_back(*buy);
      }
    }
    const std::size_t count = std::min(fitting.size(), kMaxBuys);
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back(fitting[i * fitting.size() / count]);
    }
    return result;
  }
  // The best of each price range, the most efficient first.
  std::map<int, std::size_t> by_range;
  for (auto buy = first; buy != by_efficiency.end() && result.size() < kMaxBuys; ++buy) {
    if (has_room(*buy) && ++by_range[std::ilogb(buy->price)] <= kPerRange) {
      result.push_back(*buy);
    }
  }
  return result;
}

std::optional<Repacking::Buy> Repacking::choose(const PodLots& lots, std::uint32_t lot) {
  // What was the best for the pod before is so for the next like it, while it is filled as well.
  if (last_.lot == lot && last_.buy && last_.times < kMaxTimes &&
      last_.ratio <= last_.expected * kAsGood) {
    ++last_.times;
    return last_.buy;
  }
  last_ = {.lot = lot};
  std::vector<std::pair<double, Buy>> tried;
  double least = 0;
  for (const Buy& buy : worth_trying(lots, lots.lots()[lot])) {
    tried.emplace_back(buy.price / std::max(fill_in_mind(lots, buy, lot), 1e-300), buy);
    least = tried.size() == 1 ? tried[0].first : std::min(least, tried.back().first);
  }
  // Of machines that are about as good the largest, for fewer nodes; but the very best where there
  // must be so many that each gets its share only.
  for (const auto& [ratio, buy] : tried) {
    if (sharing_ ? ratio == least && !last_.buy
                 : ratio <= least * kSameBuy && (!last_.buy || buy.price > last_.buy->price)) {
      last_.buy = buy;
      last_.expected = ratio;
    }
  }
  return last_.buy;
}

std::uint32_t Repacking::suits(std::uint32_t shape, const PodLots& lots, const Lot& lot,
                               std::size_t row, double price) {
  if (lot.shape == ClaimShapes::kNone) {
    return ClaimShapes::kNone;
  }
  const LotItem& example = lots.items()[lot.items.front()];
  const std::uint32_t next = drafts_.joined_shape(shape, example.candidate);
  return next != ClaimShapes::kNone && drafts_.shapes()[next].offered.contains(row) &&
                 drafts_.shapes()[next].price[row] <= price * kSamePrice
             ? next
             : ClaimShapes::kNone;
}

double Repacking::fill_in_mind(const PodLots& lots, const Buy& buy, std::uint32_t first) {
  const Lot& seed = lots.lots()[first];
  look_for_lots(lots, seed.shape);
  scan_.take(first);
  std::uint32_t shape = seed.shape;
  Amounts left = pools_[pool_].room.room(buy.row);
  subtract_from(left, *seed.requests);
  double value = seed.value;
  while (const auto found = scan_.best(left)) {
    const Lot& lot = lots.lots()[*found];
    const std::uint32_t next = suits(shape, lots, lot, buy.row, buy.price);
    if (next == ClaimShapes::kNone) {
      scan_.close(*found);
      continue;
    }
    shape = next;
    subtract_from(left, *lot.requests);
    value += lot.value;
    scan_.take(*found);
    if (lot.exclusive) {
      scan_.close(*found);  // one of those that must be apart is enough
    }
  }
  return value;
}

}  // namespace millwright::scheduling
