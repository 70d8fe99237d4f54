#include "scheduling/search/filling/machine_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millwright::scheduling {
namespace {

// Looked at for each claim: machines of each price range, and machines in all.
constexpr std::size_t kPerRange = 3;
constexpr std::size_t kMaxBuys = 16;
// Machines this close to the best are as good.
constexpr double kSameBuy = 1.005;
// A choice of machine is made again after so many claims, or when one ends up this much dearer.
constexpr std::size_t kMaxTimes = 16;
constexpr double kAsGood = 1.01;

}  // namespace

const MachineChoice::Market& MachineChoice::market(const PodLots& lots, ShapeId shape) {
  const ClaimShape& of = search_.drafts.shapes()[shape];
  const auto [found, added] = markets_.try_emplace(of.market);
  Market& result = found->second;
  if (!added) {
    return result;
  }
  const PoolTemplate& pool = search_.pool_template();
  const auto& prices = lots.prices(shape);
  (of.offered & pool.room.usable()).for_each([&](std::size_t row) {
    const double value = worth(pool.room.room(row), prices);
    result.by_efficiency.push_back(
        {{row, of.price[row]}, value > 0 ? of.price[row] / value : INFINITY});
  });
  const auto price = [](const Buy& buy) { return buy.machine.price; };
  std::stable_sort(
      result.by_efficiency.begin(), result.by_efficiency.end(), [&](const Buy& a, const Buy& b) {
        return a.efficiency != b.efficiency ? a.efficiency < b.efficiency : price(a) < price(b);
      });
  // Types that differ only in their names are one.
  const auto same = [&](const Buy& a, const Buy& b) {
    return price(a) == price(b) && pool.room.room(a.machine.row) == pool.room.room(b.machine.row);
  };
  result.by_efficiency.erase(
      std::unique(result.by_efficiency.begin(), result.by_efficiency.end(), same),
      result.by_efficiency.end());
  std::map<int, std::size_t> ranges;
  for (Buy& buy : result.by_efficiency) {
    buy.range = ranges.try_emplace(std::ilogb(price(buy)), ranges.size()).first->second;
  }
  result.ranges = ranges.size();
  result.by_price = result.by_efficiency;
  std::stable_sort(result.by_price.begin(), result.by_price.end(),
                   [&](const Buy& a, const Buy& b) { return price(a) < price(b); });
  return result;
}

bool MachineChoice::has_room(const Buy& buy, const Lot& lot) const {
  return fits(*lot.requests, search_.pool_template().room.room(buy.machine.row));
}

void MachineChoice::find_worth_trying(const PodLots& lots, const Lot& lot) {
  worth_trying_.clear();
  const Market& on_sale = market(lots, lot.shape);
  const auto first = std::find_if(on_sale.by_efficiency.begin(), on_sale.by_efficiency.end(),
                                  [&](const Buy& buy) { return has_room(buy, lot); });
  if (first == on_sale.by_efficiency.end()) {
    return;
  }
  const std::size_t needed = lots.claims_needed();
  const double fair = lots.value_left() / static_cast<double>(std::max<std::size_t>(needed, 1));
  sharing_ = needed > 1 && fair < first->machine.price;
  if (sharing_) {
    up_to(fair, on_sale, lot);
  } else {
    best_of_each_range(on_sale, lot);
  }
}

void MachineChoice::best_of_each_range(const Market& market, const Lot& lot) {
  in_range_.assign(market.ranges, 0);
  for (const Buy& buy : market.by_efficiency) {
    if (worth_trying_.size() == kMaxBuys) {
      break;
    }
    if (in_range_[buy.range] < kPerRange && has_room(buy, lot)) {
      ++in_range_[buy.range];
      worth_trying_.push_back(buy.machine);
    }
  }
}

// So many claims must be made that each gets a share of the pods: no use in large machines.
void MachineChoice::up_to(double fair, const Market& market, const Lot& lot) {
  fitting_.clear();
  for (const Buy& buy : market.by_price) {
    if (has_room(buy, lot)) {
      const double most =
          std::max(1.5 * fair, fitting_.empty() ? buy.machine.price : fitting_.front().price);
      if (buy.machine.price > most) {
        break;
      }
      fitting_.push_back(buy.machine);
    }
  }
  const std::size_t count = std::min(fitting_.size(), kMaxBuys);
  for (std::size_t i = 0; i < count; ++i) {
    worth_trying_.push_back(fitting_[i * fitting_.size() / count]);
  }
}

std::optional<CheapestRow> MachineChoice::choose(const PodLots& lots, LotId lot) {
  if (last_.lot == lot && last_.machine && last_.times < kMaxTimes &&
      last_.ratio <= last_.expected * kAsGood) {
    ++last_.times;
    return last_.machine;
  }
  last_ = {.lot = lot};
  find_worth_trying(lots, lots.lots()[lot]);
  tried_.clear();
  double least = 0;
  for (const CheapestRow& machine : worth_trying_) {
    const double ratio = machine.price / std::max(fill_in_mind(lots, machine, lot), 1e-300);
    least = tried_.empty() ? ratio : std::min(least, ratio);
    tried_.emplace_back(ratio, machine);
  }
  // Of machines that are about as good the largest, for fewer nodes; but the very best where there
  // must be so many that each gets its share only.
  for (const auto& [ratio, machine] : tried_) {
    if (sharing_ ? ratio == least && !last_.machine
                 : ratio <= least * kSameBuy &&
                       (!last_.machine || machine.price > last_.machine->price)) {
      last_.machine = machine;
      last_.expected = ratio;
    }
  }
  return last_.machine;
}

double MachineChoice::fill_in_mind(const PodLots& lots, CheapestRow machine, LotId first) {
  const Lot& seed = lots.lots()[first];
  scan_.begin(lots, attractions_.of(lots, seed.shape, seed.shape), lots.prices(seed.shape));
  scan_.follow({.lot = first, .row = machine.row, .in_mind = true});
  scan_.take(first);
  ShapeId shape = seed.shape;
  Amounts left = search_.pool_template().room.room(machine.row);
  subtract_from(left, *seed.requests);
  double value = seed.value;
  while (const auto found = scan_.best(left)) {
    const ShapeId next = filling_.joined_shape(shape, lots, *found, machine);
    if (next == ShapeId::none()) {
      scan_.close(*found);
      continue;
    }
    const Lot& lot = lots.lots()[*found];
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
