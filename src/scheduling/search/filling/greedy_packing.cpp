#include "scheduling/search/filling/greedy_packing.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
void GreedyPacking::begin_pass(const PodLots& lots, double floor) {
  attractions_ = Attractions(floor);
  machines_.forget_last();
  paid_.assign(lots.lots().size(), 0);
}

void GreedyPacking::forget_fills() {
  fills_.clear();
  machines_.forget_last();
}

void GreedyPacking::fill_kept(PodLots& lots, std::vector<ClaimDraft>& claims) {
  turn_to(lots);
  for (ClaimDraft& claim : claims) {
    const auto cheapest = search_.cheapest(claim);
    if (claim.reserved || !cheapest) {
      continue;
    }
    Bin bin = filling_.resume(std::move(claim), *cheapest);
    fill(lots, bin, lots.lots().front().shape);
    claim = std::move(bin.claim);
  }
}

bool GreedyPacking::pack(PodLots& lots, std::vector<ClaimDraft>& result) {
  for (const bool exclusive : {true, false}) {
    for (LotId lot; lot < lots.lots().end_id(); ++lot) {
      while (lots.lots()[lot].exclusive == exclusive && lots.lots()[lot].left > 0) {
        if (scan_.work() > most_work_ || !pack_one(lots, lot, result)) {
          return false;
        }
      }
    }
  }
  return true;
}

bool GreedyPacking::pack_one(PodLots& lots, LotId lot, std::vector<ClaimDraft>& result) {
  const ShapeId shape = lots.lots()[lot].shape;
  if (shape == ShapeId::none()) {
    return false;
  }
  const auto machine = machines_.choose(lots, lot);
  auto bin = machine ? filling_.begin(lots, lot, *machine) : std::nullopt;
  if (!bin) {
    return false;
  }
  fill(lots, *bin, shape, lot);
  note_price(lots, *bin);
  result.push_back(std::move(bin->claim));
  return true;
}

void GreedyPacking::fill(PodLots& lots, Bin& bin, ShapeId like, LotId first) {
  scan_.begin(lots, attractions_.of(lots, bin.claim.shape, like), lots.prices(like));
  if (first != LotId::none()) {
    scan_.follow({.lot = first, .row = bin.machine.row});
  }
  const auto is_kept_off = [&](LotId lot) {
    return lots.is_kept_off(lots.lots()[lot], bin.claim.tally);
  };
  scan_.close_if(lots.kept_apart(), is_kept_off);
  const auto best = [&] { return scan_.best(bin.left).value_or(LotId::none()); };
  for (LotId lot = best(); lot != LotId::none(); lot = best()) {
    if (!filling_.add(lots, lot, bin)) {
      scan_.close(lot);
      continue;
    }
    scan_.take(lot);
    if (lots.lots()[lot].exclusive) {
      scan_.close_if(lots.kept_apart(), is_kept_off);
    }
  }
}

FillPods GreedyPacking::pods_of(const Bin& bin) {
  in_order_ = bin.lots;
  std::sort(in_order_.begin(), in_order_.end());
  FillPods pods;
  pods.reserve(in_order_.size());
  for (const LotId lot : in_order_) {
    if (pods.empty() || pods.back().first != lot) {
      pods.emplace_back(lot, 0);
    }
    ++pods.back().second;
  }
  return pods;
}

void GreedyPacking::note_price(const PodLots& lots, const Bin& bin) {
  double value = 0;
  for (const LotId lot : bin.lots) {
    value += lots.lots()[lot].value;
  }
  const auto cheapest = search_.cheapest(bin.claim);
  const double price = cheapest ? cheapest->price : bin.machine.price;
  const double ratio = price / std::max(value, 1e-300);
  machines_.note_result(ratio);
  for (const LotId lot : bin.lots) {
    paid_[lot] += ratio;
  }
  if (cheapest) {
    fills_.insert({cheapest->row, cheapest->price, pods_of(bin)});
  }
}

}  // namespace millwright::scheduling
