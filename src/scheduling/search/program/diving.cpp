#include "scheduling/search/program/diving.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace millwright::scheduling {
namespace {

// Lots of one linear program; more of them are dealt out to several.
constexpr std::size_t kDiveLots = 64;
// How much work may be done, in lots looked at: to begin with, and per lot. Each linear program may
// take a part of what is left; what pods are left in the end are packed claim by claim.
constexpr std::size_t kDiveWork = 4'000'000;
constexpr std::size_t kWorkPerLot = 60'000;
constexpr std::size_t kShare = 3;
// After the first program, which has found most fills that are worth finding; see kPatience.
constexpr int kLessPatience = 3;
// Fills are looked for again when no more than this part of the pods is left, by worth.
constexpr double kOtherPods = 0.9;
constexpr double kWhole = 1 - 1e-6;
// Bought as a whole when no fill is bought more than that.
constexpr double kAlmost = 0.5;

}  // namespace

std::size_t Diving::programs(std::size_t lots) {
  return (lots + kDiveLots - 1) / kDiveLots;
}

bool Diving::plan(PodLots& lots, double most, std::vector<ClaimDraft>& result) {
  greedy_.fill_kept(lots, result);
  machines_ = machines_for(lots, search_.pool_template(), search_.drafts.shapes());
  const std::size_t parts = programs(lots.lots().size());
  if (parts == 1) {
    return dive(lots, most - search_.price_of(result), result);
  }
  for (std::size_t i = 0; i < parts; ++i) {
    if (!plan_part(lots.part(i, parts), i == 0, result)) {
      return false;
    }
  }
  return true;
}

bool Diving::plan_part(const PodLots& part, bool first, std::vector<ClaimDraft>& result) {
  greedy_.forget_fills();
  PodLots waiting = part;
  std::vector<ClaimDraft> one_by_one;
  greedy_.fill_kept(waiting, one_by_one);
  if (!greedy_.pack(waiting, one_by_one)) {
    return false;
  }
  fills_ = greedy_.fills();
  PodLots again = part;
  std::vector<ClaimDraft> at_once;
  const double price = search_.price_of(one_by_one);
  const bool saved = dive(again, price, at_once) && search_.price_of(at_once) < price;
  if (!saved && first) {
    return false;  // others like it will hardly do better
  }
  auto& better = saved ? at_once : one_by_one;
  std::move(better.begin(), better.end(), std::back_inserter(result));
  return true;
}

bool Diving::dive(PodLots& lots, double most, std::vector<ClaimDraft>& result) {
  greedy_.turn_to(lots);
  std::size_t left = kDiveWork + kWorkPerLot * std::min(lots.lots().size(), kDiveLots);
  int patience = kPatience;
  double looked = 0;
  most *= 1 - kWorthADive;
  while (lots.pods_left() > 0 && left > 0) {
    std::size_t work = left / kShare + 1;
    left -= work;
    ColumnGeneration generation(lots, machines_);
    generation.begin_with_known(fills_);
    if (!generation.run(patience, work) || generation.price() > most) {
      return false;
    }
    fills_ = generation.worth_keeping();
    left += work;
    looked = patience > 0 ? generation.price() : looked;
    if (!buy(lots, generation, result)) {
      return false;
    }
    patience = lots.value_left() < kOtherPods * looked ? kLessPatience : 0;
    most = std::numeric_limits<double>::infinity();
  }
  for (LotId lot; lot < lots.lots().end_id(); ++lot) {
    while (lots.lots()[lot].left > 0) {
      if (!greedy_.pack_one(lots, lot, result)) {
        return false;
      }
    }
  }
  return true;
}

bool Diving::buy(PodLots& lots, const ColumnGeneration& generation,
                 std::vector<ClaimDraft>& result) {
  std::vector<std::pair<double, std::size_t>> wanted;
  for (std::size_t i = 0; i < generation.amounts().size(); ++i) {
    if (generation.amounts()[i] > 0) {
      wanted.emplace_back(-generation.amounts()[i], i);
    }
  }
  if (wanted.empty()) {
    return false;
  }
  std::sort(wanted.begin(), wanted.end());
  const bool whole = -wanted.front().first >= kWhole;
  for (const auto& [amount, index] : wanted) {
    const Fill& fill = generation.fills()[index];
    auto times = static_cast<std::size_t>(-amount + 1 - kWhole);
    if (!whole) {
      const bool there = std::all_of(fill.pods.begin(), fill.pods.end(), [&](const auto& pods) {
        return pods.second <= lots.lots()[pods.first].left;
      });
      times = index == wanted.front().second || (there && -amount > kAlmost) ? 1 : 0;
    }
    for (; times > 0; --times) {
      if (!greedy_.filling().build(lots, fill, result)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace millwright::scheduling
