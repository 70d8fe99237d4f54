// The part of Repacking that looks at all claims at once: a linear program chooses fills of
// machines; those that it wants as a whole are bought, and it is asked again for the pods that are
// left (diving).
#include "scheduling/repacking.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace millwright::scheduling {
namespace {

// More lots than that are dealt out to several programs; and too many altogether.
constexpr std::size_t kLots = 64;
constexpr std::size_t kMaxLots = 640;
// Less than this part of the price to be saved is not worth the trouble.
constexpr double kWorthTheTrouble = 0.003;
// How much work may be done, in lots looked at (as in repacking.cpp): to begin with, and per lot.
// Each program may take a part of what there is; what is left in the end is packed claim by claim.
constexpr std::size_t kWork = 4'000'000;
constexpr std::size_t kWorkPerLot = 60'000;
constexpr std::size_t kShare = 3;
// See FillChoice; programs after the first begin with its fills.
constexpr int kPatience = 4;
constexpr int kLessPatience = 3;
// Fills are looked for again when no more than this part of the pods is left, by worth.
constexpr double kOtherPods = 0.9;
constexpr double kWhole = 1 - 1e-6;
// Bought as a whole when no fill is wanted more than that.
constexpr double kAlmost = 0.5;

}  // namespace

bool Repacking::worth_a_program(const PodLots& lots, const std::vector<ClaimDraft>& claims) const {
  // What the pods' room costs by the fraction of a machine.
  double least = 0;
  for (const Lot& lot : lots.lots()) {
    if (lot.shape == ClaimShapes::kNone) {
      return false;
    }
    least += lot.least * static_cast<double>(lot.left);
  }
  return lots.lots().size() <= kMaxLots && 2 * lots.claims_needed() < claims.size() &&
         price_of(claims) > least * (1 + kWorthTheTrouble);
}

bool Repacking::repack_by_fills(PodLots& lots, double most, std::vector<ClaimDraft>& result) {
  fill_kept(lots, result);
  const auto machines = machines_for(lots, pools_[pool_], drafts_.shapes());
  const std::size_t parts = (lots.lots().size() + kLots - 1) / kLots;
  if (parts == 1) {
    return dive(lots, machines, most - price_of(result), result);
  }
  for (std::size_t i = 0; i < parts; ++i) {
    const PodLots part = lots.part(i, parts);
    known_fills_.clear();
    last_ = {};
    PodLots waiting = part;
    std::vector<ClaimDraft> one_by_one;
    if (!repack(waiting, one_by_one)) {
      return false;
    }
    PodLots again = part;
    std::vector<ClaimDraft> at_once;
    const double price = price_of(one_by_one);
    const bool saved = dive(again, machines, price, at_once) && price_of(at_once) < price;
    if (!saved && i == 0) {
      return false;  // others like it will hardly do better
    }
    auto& better = saved ? at_once : one_by_one;
    std::move(better.begin(), better.end(), std::back_inserter(result));
  }
  return true;
}

bool Repacking::dive(PodLots& lots, std::span<const SoldMachine> machines, double most,
                     std::vector<ClaimDraft>& result) {
  std::size_t left = kWork + kWorkPerLot * std::min(lots.lots().size(), kLots);
  int patience = kPatience;
  double looked = 0;
  most *= 1 - kWorthTheTrouble;
  while (lots.pods_left() > 0 && left > 0) {
    std::size_t work = left / kShare + 1;
    left -= work;
    FillChoice choice(lots, machines);
    if (!choice.run(known_fills_, patience, work) || choice.price() > most) {
      return false;
    }
    left += work;
    looked = patience > 0 ? choice.price() : looked;
    if (!buy(lots, choice, result)) {
      return false;
    }
    patience = lots.value_left() < kOtherPods * looked ? kLessPatience : 0;
    most = std::numeric_limits<double>::infinity();
  }
  list_active(lots);
  for (const std::uint32_t lot : std::vector<std::uint32_t>(active_)) {
    while (lots.lots()[lot].left > 0) {
      if (!start(lots, lot, result)) {
        return false;
      }
    }
  }
  return true;
}

bool Repacking::buy(PodLots& lots, const FillChoice& choice, std::vector<ClaimDraft>& result) {
  std::vector<std::pair<double, std::size_t>> wanted;
  for (std::size_t i = 0; i < choice.shares().size(); ++i) {
    if (choice.shares()[i] > 0) {
      wanted.emplace_back(-choice.shares()[i], i);
    }
  }
  if (wanted.empty()) {
    return false;
  }
  std::sort(wanted.begin(), wanted.end());
  const bool whole = -wanted.front().first >= kWhole;
  for (const auto& [share, index] : wanted) {
    const Fill& fill = choice.fills()[index];
    auto times = static_cast<std::size_t>(-share + 1 - kWhole);
    if (!whole) {
      const bool there = std::all_of(fill.pods.begin(), fill.pods.end(), [&](const auto& pods) {
        return pods.second <= lots.lots()[pods.first].left;
      });
      times = index == wanted.front().second || (there && -share > kAlmost) ? 1 : 0;
    }
    for (; times > 0; --times) {
      if (!build(lots, fill, result)) {
        return false;
      }
    }
  }
  return true;
}

bool Repacking::build(PodLots& lots, const Fill& fill, std::vector<ClaimDraft>& result) {
  std::optional<Bin> bin;
  for (const auto& [index, count] : fill.pods) {
    Lot& lot = lots.lots()[index];
    for (std::uint32_t i = 0; i < count && lot.left > 0; ++i) {
      if (!bin) {
        bin = begin(lots, index, fill.row, fill.price);
        if (!bin) {
          return false;
        }
        continue;
      }
      if (suits(bin->claim.shape, lots, lot, bin->row, bin->price) == ClaimShapes::kNone ||
          !add_from(lots, lot, *bin)) {
        break;
      }
    }
  }
  if (bin) {
    result.push_back(std::move(bin->claim));
  }
  return true;
}

}  // namespace millwright::scheduling
