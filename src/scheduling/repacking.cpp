#include "scheduling/repacking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace millwright::scheduling {
namespace {

// New claims must save this part of the price, or the old ones stay.
constexpr double kWorthwhile = 1e-6;
constexpr double kSamePrice = 1 + 1e-9;
// Looked at for each claim: machines of each price range, and machines in all.
constexpr std::size_t kPerRange = 3;
constexpr std::size_t kMaxBuys = 16;
// Looked at for each pod of a claim.
constexpr std::size_t kMaxLots = 192;
constexpr std::size_t kMaxItems = 32;
// Lots looked at in all. Bounds the time that a problem can take.
constexpr std::size_t kMaxWork = 60'000'000;
// A pod that must be apart from others is worth more where it can be than one that fits anywhere.
constexpr double kExclusiveBonus = 4;
// A choice of machine is made again after so many claims, or when one ends up this much dearer.
constexpr std::size_t kMaxTimes = 16;
constexpr double kAsGood = 1.01;
constexpr double kAtHome = 0.9;
// How much resources that are plenty weigh when pods are chosen, pass by pass.
constexpr std::array kFloors = {0.5, 1.0, 0.25, 0.5};

}  // namespace

bool Repacking::run(std::uint32_t pool) {
  pool_ = pool;
  buys_.clear();
  std::vector<ClaimDraft> before;
  std::vector<ClaimDraft> after;
  PodLots lots(pods_, topology_, drafts_);
  for (const ClaimDraft& claim : drafts_.claims()) {
    if (claim.pool == pool) {
      before.push_back(claim);
      if (!lots.take(claim)) {
        after.push_back(claim);
      }
    }
  }
  if (lots.pods_left() < 2) {
    return false;
  }
  lots.sort(pools_);
  paid_.assign(lots.lots().size(), 0);
  double best = price_of(before) * (1 - kWorthwhile);
  std::vector<ClaimDraft> cheapest;
  for (std::size_t pass = 0; pass < kFloors.size(); ++pass) {
    PodLots waiting = lots;
    floor_ = kFloors[pass];
    attractions_.clear();
    last_ = {};
    std::vector<ClaimDraft> result = after;
    std::fill(paid_.begin(), paid_.end(), 0);
    if (!repack(waiting, result)) {
      break;
    }
    if (const double price = price_of(result); price < best) {
      best = price;
      cheapest = std::move(result);
    }
    lots.revalue(paid_);
  }
  return !cheapest.empty() && drafts_.adopt(pool, std::move(cheapest));
}

double Repacking::price_of(const std::vector<ClaimDraft>& claims) const {
  double total = 0;
  for (const ClaimDraft& claim : claims) {
    const auto cheapest = cheapest_row(pools_[pool_], drafts_.shapes()[claim.shape], claim);
    total += cheapest ? cheapest->price : 0;
  }
  return total;
}

bool Repacking::repack(PodLots& lots, std::vector<ClaimDraft>& result) {
  for (ClaimDraft& claim : result) {
    // What stays has room that is paid for.
    const auto cheapest = cheapest_row(pools_[pool_], drafts_.shapes()[claim.shape], claim);
    if (claim.reserved || !cheapest) {
      continue;
    }
    Bin bin{std::move(claim),
            cheapest->row,
            cheapest->price,
            pools_[pool_].room.room(cheapest->row),
            {},
            {}};
    subtract_from(bin.left, bin.claim.requests);
    for (std::size_t i = 0; i < bin.claim.pods.size(); ++i) {
      note_spreading(bin, drafts_.candidate(bin.claim, i));
    }
    list_active(lots);
    fill(lots, bin, lots.lots().front().shape);
    claim = std::move(bin.claim);
  }
  for (const bool exclusive : {true, false}) {
    for (std::uint32_t lot = 0; lot < lots.lots().size(); ++lot) {
      while (lots.lots()[lot].exclusive == exclusive && lots.lots()[lot].left > 0) {
        if (work_ > kMaxWork || !start(lots, lot, result)) {
          return false;
        }
      }
    }
  }
  return true;
}

const std::vector<double>& Repacking::attractions(const PodLots& lots, std::uint32_t shape) {
  const auto [found, added] = attractions_.try_emplace(shape);
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

void Repacking::list_active(const PodLots& lots) {
  active_.clear();
  for (std::uint32_t i = 0; i < lots.lots().size(); ++i) {
    if (lots.lots()[i].left > 0) {
      active_.push_back(i);
    }
  }
}

const std::vector<Repacking::Buy>& Repacking::buys(const PodLots& lots, std::uint32_t shape) {
  const auto [found, added] = buys_.try_emplace(shape);
  if (!added) {
    return found->second;
  }
  const PoolTemplate& pool = pools_[pool_];
  const ClaimShape& of = drafts_.shapes()[shape];
  const auto& prices = lots.prices(shape);
  std::vector<Buy>& result = found->second;
  (of.offered & pool.room.usable()).for_each([&](std::size_t row) {
    const double value = worth(pool.room.room(row), prices);
    result.push_back({row, of.price[row], value > 0 ? of.price[row] / value : INFINITY});
  });
  std::stable_sort(result.begin(), result.end(), [](const Buy& a, const Buy& b) {
    return a.efficiency != b.efficiency ? a.efficiency < b.efficiency : a.price < b.price;
  });
  // Types that differ in nothing but their names are one.
  const auto same = [&](const Buy& a, const Buy& b) {
    return a.price == b.price && pool.room.room(a.row) == pool.room.room(b.row);
  };
  result.erase(std::unique(result.begin(), result.end(), same), result.end());
  return result;
}

std::vector<Repacking::Buy> Repacking::worth_trying(const PodLots& lots, const Lot& lot) {
  std::vector<Buy> fitting;
  for (const Buy& buy : buys(lots, lot.shape)) {
    if (fits(*lot.requests, pools_[pool_].room.room(buy.row))) {
      fitting.push_back(buy);
    }
  }
  if (fitting.empty()) {
    return fitting;
  }
  const std::size_t needed = lots.claims_needed();
  const double fair = lots.value_left() / static_cast<double>(std::max<std::size_t>(needed, 1));
  if (needed > 1 && fair < fitting.front().price) {
    // So many claims must be made that each gets a share of the pods: no use in large machines.
    std::stable_sort(fitting.begin(), fitting.end(),
                     [](const Buy& a, const Buy& b) { return a.price < b.price; });
    const double most = std::max(1.5 * fair, fitting.front().price);
    std::erase_if(fitting, [&](const Buy& buy) { return buy.price > most; });
    std::vector<Buy> thinned;
    const std::size_t count = std::min(fitting.size(), kMaxBuys);
    for (std::size_t i = 0; i < count; ++i) {
      thinned.push_back(fitting[i * fitting.size() / count]);
    }
    return thinned;
  }
  // The best of each price range, the most efficient first.
  std::map<int, std::size_t> by_range;
  std::vector<Buy> result;
  for (const Buy& buy : fitting) {
    if (result.size() < kMaxBuys && ++by_range[std::ilogb(buy.price)] <= kPerRange) {
      result.push_back(buy);
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
  for (const Buy& buy : worth_trying(lots, lots.lots()[lot])) {
    const double ratio = buy.price / std::max(fill_in_mind(lots, buy, lot), 1e-300);
    if (!last_.buy || ratio < last_.expected) {
      last_.buy = buy;
      last_.expected = ratio;
    }
  }
  return last_.buy;
}

bool Repacking::start(PodLots& lots, std::uint32_t index, std::vector<ClaimDraft>& result) {
  Lot& lot = lots.lots()[index];
  const auto item = std::find_if(lot.items.begin(), lot.items.end(),
                                 [&](std::uint32_t i) { return !lots.items()[i].pods.empty(); });
  LotItem& first = lots.items()[*item];
  list_active(lots);
  if (lot.shape == ClaimShapes::kNone) {
    return false;
  }
  const std::optional<Buy> best = choose(lots, index);
  if (!best) {
    return false;
  }
  auto claim = drafts_.start(pool_, first.candidate, first.pods.back());
  if (!claim || !drafts_.counts_alike({.pool = pool_, .shape = first.from}, *claim,
                                      first.candidate.constraint)) {
    return false;
  }
  Bin bin{
      *std::move(claim), best->row, best->price, pools_[pool_].room.room(best->row), {}, {index}};
  subtract_from(bin.left, *lot.requests);
  note_spreading(bin, first.candidate);
  lots.remove_last(lot, first);
  fill(lots, bin, lot.shape);
  charge(lots, bin);
  result.push_back(std::move(bin.claim));
  return true;
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

std::optional<std::uint32_t> Repacking::best_lot(const PodLots& lots, const Amounts& left,
                                                 std::uint32_t like) {
  const auto& all = lots.lots();
  const double room = worth(left, lots.prices(like)) * kSamePrice;
  const auto small_enough = std::partition_point(
      active_.begin(), active_.end(), [&](std::uint32_t lot) { return all[lot].least > room; });
  const auto count = static_cast<std::size_t>(active_.end() - small_enough);
  const std::size_t stride = count / kMaxLots + 1;
  work_ += count / stride + 1;
  // Large where the pods are large in what there is much of.
  const std::vector<double>& attraction = attractions(lots, like);
  const std::size_t columns = left.size();
  std::optional<std::uint32_t> best;
  double most = -1;
  for (std::size_t i = 0; i < count; i += stride) {
    const std::uint32_t index = *(small_enough + static_cast<std::ptrdiff_t>(i));
    if (closed_[index] != 0 || all[index].left <= taken_[index]) {
      continue;
    }
    double score = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      score += attraction[index * columns + c] * static_cast<double>(left[c]);
    }
    if (score > most && fits(*all[index].requests, left)) {
      best = index;
      most = score;
    }
  }
  return best;
}

double Repacking::fill_in_mind(const PodLots& lots, const Buy& buy, std::uint32_t first) {
  const Lot& seed = lots.lots()[first];
  closed_.assign(lots.lots().size(), 0);
  taken_.assign(lots.lots().size(), 0);
  taken_[first] = 1;
  std::uint32_t shape = seed.shape;
  Amounts left = pools_[pool_].room.room(buy.row);
  subtract_from(left, *seed.requests);
  double value = seed.value;
  while (const auto found = best_lot(lots, left, seed.shape)) {
    const Lot& lot = lots.lots()[*found];
    const std::uint32_t next = suits(shape, lots, lot, buy.row, buy.price);
    if (next == ClaimShapes::kNone) {
      closed_[*found] = 1;
      continue;
    }
    shape = next;
    subtract_from(left, *lot.requests);
    value += lot.value;
    ++taken_[*found];
    // One of those that must be apart is enough.
    closed_[*found] = lot.exclusive ? 1 : 0;
  }
  return value;
}

void Repacking::fill(PodLots& lots, Bin& bin, std::uint32_t like) {
  closed_.assign(lots.lots().size(), 0);
  taken_.assign(lots.lots().size(), 0);
  while (const auto found = best_lot(lots, bin.left, like)) {
    Lot& lot = lots.lots()[*found];
    if (suits(bin.claim.shape, lots, lot, bin.row, bin.price) == ClaimShapes::kNone ||
        !add_from(lots, lot, bin)) {
      closed_[*found] = 1;
    } else {
      bin.lots.push_back(*found);
    }
  }
}

void Repacking::charge(const PodLots& lots, const Bin& bin) {
  double value = 0;
  for (const std::uint32_t lot : bin.lots) {
    value += lots.lots()[lot].value;
  }
  const auto cheapest = cheapest_row(pools_[pool_], drafts_.shapes()[bin.claim.shape], bin.claim);
  last_.ratio = (cheapest ? cheapest->price : bin.price) / std::max(value, 1e-300);
  for (const std::uint32_t lot : bin.lots) {
    paid_[lot] += last_.ratio;
  }
}

bool Repacking::add_from(PodLots& lots, Lot& lot, Bin& bin) {
  std::size_t tries = 0;
  for (const std::uint32_t index : lot.items) {
    LotItem& item = lots.items()[index];
    if (item.pods.empty() || !hosts_admit(bin, item.candidate)) {
      continue;
    }
    if (++tries > kMaxItems) {
      return false;
    }
    const Constraint& constraint = item.candidate.constraint;
    if (!constraint.counted.empty()) {
      const std::uint32_t shape = drafts_.joined_shape(bin.claim.shape, item.candidate);
      if (shape == ClaimShapes::kNone ||
          !drafts_.counts_alike({.pool = pool_, .shape = item.from},
                                {.pool = pool_, .shape = shape}, constraint)) {
        continue;
      }
    }
    if (drafts_.join(bin.claim, item.candidate, item.pods.back())) {
      subtract_from(bin.left, *lot.requests);
      note_spreading(bin, item.candidate);
      lots.remove_last(lot, item);
      return true;
    }
  }
  return false;
}

bool Repacking::hosts_admit(const Bin& bin, const Candidate& candidate) const {
  return std::all_of(candidate.constraint.counted.begin(), candidate.constraint.counted.end(),
                     [&](std::uint32_t id) {
                       return std::find(bin.spreading.begin(), bin.spreading.end(), id) ==
                                  bin.spreading.end() ||
                              bin.claim.tally.selected(id) < topology_.groups()[id].max_skew;
                     }) &&
         drafts_.admits_host(bin.claim, candidate);
}

void Repacking::note_spreading(Bin& bin, const Candidate& candidate) const {
  for (const std::uint32_t id : candidate.rung.on_host) {
    if (topology_.groups()[id].kind == TopologyKind::Spread) {
      bin.spreading.push_back(id);
    }
  }
}

}  // namespace millwright::scheduling
