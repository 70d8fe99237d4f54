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

double Repacking::fractional_price(const PodLots& lots) {
  double price = 0;
  for (const Lot& lot : lots.lots()) {
    price += lot.least * static_cast<double>(lot.left);
  }
  return price;
}

bool Repacking::worth_a_program(const PodLots& lots, const std::vector<ClaimDraft>& kept,
                                const Contest& contest) const {
  const auto& all = lots.lots();
  if (all.size() > kMaxLots || 2 * lots.claims_needed() >= contest.claims ||
      std::any_of(all.begin(), all.end(),
                  [](const Lot& lot) { return lot.shape == ClaimShapes::kNone; })) {
    return false;
  }
  const double hoped_for = fractional_price(lots) * (1 + kWorthTheTrouble);
  // It will hardly come to fewer claims than the passes did.
  return contest.price > hoped_for &&
         contest.with_node_cost(price_of(kept) + hoped_for, contest.fewest) < contest.least;
}

KnownLots Repacking::known(const PodLots& lots, const std::vector<ClaimDraft>& kept) const {
  KnownLots result{pool_, price_of(kept), kept.size(), {}};
  for (const Lot& lot : lots.lots()) {
    result.lots.push_back({*lot.requests, drafts_.shapes()[lot.shape].requirements.to_string(),
                           lot.least, lot.left, lot.exclusive});
  }
  // Lots that are worth as much stand in the order in which their markets came up.
  std::sort(result.lots.begin(), result.lots.end());
  return result;
}

void Repacking::try_program(const PodLots& lots, const std::vector<ClaimDraft>& kept,
                            Contest& contest) {
  if (!worth_a_program(lots, kept, contest)) {
    return;
  }
  const auto [at, is_new] = programs_.try_emplace(known(lots, kept));
  ProgramOutcome& outcome = at->second;
  if (!is_new && (outcome.claims == 0
                      ? outcome.price >= contest.least
                      : contest.with_node_cost(outcome.price, outcome.claims) >= contest.least)) {
    return;
  }
  outcome = {0, contest.least};
  std::vector<ClaimDraft> result = kept;
  if (PodLots waiting = lots; repack_by_fills(waiting, contest.least, result)) {
    outcome = {result.size(), price_of(result)};
    consider(result, contest);
  }
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
  scan_.reset(lots);
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
  for (std::uint32_t lot = 0; lot < lots.lots().size(); ++lot) {
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
