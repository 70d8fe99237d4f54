#include "scheduling/repacking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace millwright::scheduling {
namespace {

// New claims must save this part of the price, or the old ones stay.
constexpr double kWorthwhile = 1e-6;
// Nodes have a cost of their own: twice as many must save this part of the price, and every further
// doubling this much more.
constexpr double kNodeCost = 0.03;
constexpr double kFurtherCost = 0.01;
// Kinds of pods of one lot that are tried on a claim.
constexpr std::size_t kMaxItems = 32;
// Lots looked at in all: enough for another pass not to be begun, too many for one to be ended.
constexpr std::size_t kEnoughWork = 5'000'000;
constexpr std::size_t kMaxWork = 60'000'000;
// How much resources that are plenty weigh when pods are chosen, pass by pass.
constexpr std::array kFloors = {1.0, 0.5, 0.25, 1.0};

}  // namespace

double Repacking::Contest::with_node_cost(double of, std::size_t count) const {
  const double times = static_cast<double>(count) / static_cast<double>(before);
  return of * (1 + kNodeCost * std::clamp(times - 1, 0.0, 1.0) +
               kFurtherCost * std::log2(std::max(times / 2, 1.0)));
}

void Repacking::consider(std::vector<ClaimDraft>& claims, Contest& contest) const {
  const double price = price_of(claims);
  const double with_nodes = contest.with_node_cost(price, claims.size());
  contest.fewest = contest.fewest == 0 ? claims.size() : std::min(contest.fewest, claims.size());
  if (with_nodes < contest.least) {
    contest.least = with_nodes;
    contest.price = price;
    contest.claims = claims.size();
    contest.winners = std::move(claims);
  }
}

bool Repacking::run(std::uint32_t pool) {
  pool_ = pool;
  scan_ = {};
  markets_.clear();
  known_fills_.clear();
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
  Contest contest{.before = before.size(), .price = price_of(before), .claims = before.size()};
  contest.least = contest.price * (1 - kWorthwhile);
  // Pods that are all alike have one order only.
  const std::size_t passes = lots.lots().size() > 1 ? kFloors.size() : 1;
  for (std::size_t pass = 0; pass < passes && scan_.work() < kEnoughWork; ++pass) {
    PodLots waiting = lots;
    floor_ = kFloors[pass];
    attractions_.clear();
    last_ = {};
    std::vector<ClaimDraft> result = after;
    std::fill(paid_.begin(), paid_.end(), 0);
    if (!repack(waiting, result)) {
      break;
    }
    consider(result, contest);
    lots.revalue(paid_);
  }
  try_program(lots, after, contest);
  return !contest.winners.empty() && drafts_.adopt(pool, std::move(contest.winners));
}

double Repacking::price_of(const std::vector<ClaimDraft>& claims) const {
  double total = 0;
  for (const ClaimDraft& claim : claims) {
    const auto cheapest = cheapest_row(pools_[pool_], drafts_.shapes()[claim.shape], claim);
    total += cheapest ? cheapest->price : 0;
  }
  return total;
}

void Repacking::fill_kept(PodLots& lots, std::vector<ClaimDraft>& result) {
  scan_.reset(lots);
  for (ClaimDraft& claim : result) {
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
    fill(lots, bin, lots.lots().front().shape);
    claim = std::move(bin.claim);
  }
}

bool Repacking::repack(PodLots& lots, std::vector<ClaimDraft>& result) {
  fill_kept(lots, result);
  for (const bool exclusive : {true, false}) {
    for (std::uint32_t lot = 0; lot < lots.lots().size(); ++lot) {
      while (lots.lots()[lot].exclusive == exclusive && lots.lots()[lot].left > 0) {
        if (scan_.work() > kMaxWork || !start(lots, lot, result)) {
          return false;
        }
      }
    }
  }
  return true;
}

std::optional<Repacking::Bin> Repacking::begin(PodLots& lots, std::uint32_t index, std::size_t row,
                                               double price) {
  Lot& lot = lots.lots()[index];
  const auto item = std::find_if(lot.items.begin(), lot.items.end(),
                                 [&](std::uint32_t i) { return !lots.items()[i].pods.empty(); });
  LotItem& first = lots.items()[*item];
  auto claim = drafts_.start(pool_, first.candidate, first.pods.back());
  if (!claim || !drafts_.counts_alike({.pool = pool_, .shape = first.from}, *claim,
                                      first.candidate.constraint)) {
    return std::nullopt;
  }
  Bin bin{*std::move(claim), row, price, pools_[pool_].room.room(row), {}, {index}};
  subtract_from(bin.left, *lot.requests);
  note_spreading(bin, first.candidate);
  lots.remove_last(lot, first);
  return bin;
}

bool Repacking::start(PodLots& lots, std::uint32_t index, std::vector<ClaimDraft>& result) {
  const std::uint32_t shape = lots.lots()[index].shape;
  if (shape == ClaimShapes::kNone) {
    return false;
  }
  const std::optional<Buy> best = choose(lots, index);
  if (!best) {
    return false;
  }
  auto bin = begin(lots, index, best->row, best->price);
  if (!bin) {
    return false;
  }
  fill(lots, *bin, shape);
  charge(lots, *bin);
  result.push_back(std::move(bin->claim));
  return true;
}

void Repacking::fill(PodLots& lots, Bin& bin, std::uint32_t like) {
  look_for_lots(lots, like);
  const auto close_those_kept_off = [&] {
    scan_.close_if(
        [&](std::uint32_t lot) { return lots.is_kept_off(lots.lots()[lot], bin.claim.tally); });
  };
  close_those_kept_off();
  while (const auto found = scan_.best(bin.left)) {
    Lot& lot = lots.lots()[*found];
    if (suits(bin.claim.shape, lots, lot, bin.row, bin.price) == ClaimShapes::kNone ||
        !add_from(lots, lot, bin)) {
      scan_.close(*found);
    } else {
      scan_.take(*found);
      bin.lots.push_back(*found);
      if (lot.exclusive) {
        close_those_kept_off();
      }
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
  if (cheapest) {
    std::map<std::uint32_t, std::uint32_t> pods;
    for (const std::uint32_t lot : bin.lots) {
      ++pods[lot];
    }
    known_fills_.insert({cheapest->row, cheapest->price, {pods.begin(), pods.end()}});
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
