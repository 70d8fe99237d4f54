#include "scheduling/search/program/ruin_and_recreate.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace millwright::scheduling {
namespace {

// Fills that are taken apart together: one to so many.
constexpr std::size_t kMostTogether = 4;
// Times that every fill is tried in vain before it is enough.
constexpr std::size_t kPatienceOfRuin = 6;
// After so much work, for each pod and for each fill, it must have saved this part of the price, or
// there is no more.
constexpr std::size_t kStretchPerPod = 3'000;
constexpr std::size_t kMostForPods = 3'000'000;
constexpr std::size_t kStretchPerFill = 5'000;
constexpr std::size_t kMaxStretch = 20'000'000;
constexpr double kWorthAnotherStretch = 0.001;
// Of the search for other fills.
constexpr FillSearch::Limits kLimits = {.discrepancies = 1, .steps = 24};
// What must be saved, as a part of what the fills cost.
constexpr double kWorthIt = 1e-5;

std::size_t pods_on(const std::vector<Fill>& fills) {
  std::size_t pods = 0;
  for (const Fill& fill : fills) {
    for (const auto& [lot, count] : fill.pods) {
      pods += count;
    }
  }
  return pods;
}

}  // namespace

double RuinAndRecreate::loss(const Fill& fill) const {
  double result = fill.price + market_.node_cost;
  for (const auto& [lot, count] : fill.pods) {
    result -= market_.values[lot] * count;
  }
  return result;
}

bool RuinAndRecreate::run(std::vector<Fill>& fills, std::size_t work) {
  const double price = cost_of(fills);
  const std::size_t stretch = std::min(
      std::min(kStretchPerPod * pods_on(fills), kMostForPods) + kStretchPerFill * fills.size(),
      kMaxStretch);
  bool found = false;
  double before = price;
  while (work > 0) {
    std::size_t left = std::min(work, stretch);
    work -= left;
    const bool improved = run_stretch(fills, left);
    work += left;
    found = found || improved;
    const double now = cost_of(fills);
    if (before - now < kWorthAnotherStretch * price) {
      break;
    }
    before = now;
  }
  return found;
}

bool RuinAndRecreate::run_stretch(std::vector<Fill>& fills, std::size_t& work) {
  bool found = false;
  std::size_t in_vain = 0;
  rank(fills);
  while (work > 0 && in_vain < kPatienceOfRuin * fills.size()) {
    bool improved = false;
    for (std::size_t seed = 0; seed < fills.size() && work > 0 && !improved; ++seed) {
      work -= std::min(work, fills.size());
      improved = recreate(fills, choose(fills, seed), work);
      in_vain = improved ? 0 : in_vain + 1;
    }
    found = found || improved;
  }
  return found;
}

bool RuinAndRecreate::loses_more(const Fill& a, const Fill& b) const {
  const double one = loss(a);
  const double other = loss(b);
  return one != other ? one > other : a < b;
}

void RuinAndRecreate::rank(std::vector<Fill>& fills) const {
  std::sort(fills.begin(), fills.end(),
            [this](const Fill& a, const Fill& b) { return loses_more(a, b); });
}

double RuinAndRecreate::cost_of(const std::vector<Fill>& fills) const {
  double cost = 0;
  for (const Fill& fill : fills) {
    cost += fill.price + market_.node_cost;
  }
  return cost;
}

std::vector<std::size_t> RuinAndRecreate::choose(const std::vector<Fill>& fills, std::size_t seed) {
  const std::size_t size = std::min<std::size_t>(1 + random() % kMostTogether, fills.size());
  std::vector<std::size_t> result = {seed};
  while (result.size() < size) {
    // The product of two draws: fills that lose much come up more often.
    const std::uint64_t draw = (std::uint64_t{random()} * random()) >> 32;
    const auto at = static_cast<std::size_t>((draw * fills.size()) >> 32);
    if (std::find(result.begin(), result.end(), at) == result.end()) {
      result.push_back(at);
    } else {
      const auto next = (at + 1) % fills.size();
      if (std::find(result.begin(), result.end(), next) == result.end()) {
        result.push_back(next);
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool RuinAndRecreate::recreate(std::vector<Fill>& fills, const std::vector<std::size_t>& ruined,
                               std::size_t& work) const {
  std::map<LotId, std::uint32_t> pods;
  double cost = 0;
  double lost = 0;
  for (const std::size_t at : ruined) {
    cost += fills[at].price + market_.node_cost;
    lost += loss(fills[at]);
    for (const auto& [lot, count] : fills[at].pods) {
      pods[lot] += count;
    }
  }
  if (lost <= cost * kWorthIt) {
    return false;
  }
  FillSearch search(market_, {pods.begin(), pods.end()});
  std::vector<Fill> better = search.run(cost * (1 - kWorthIt), kLimits, work);
  if (better.empty()) {
    return false;
  }
  for (std::size_t i = ruined.size(); i-- > 0;) {
    fills.erase(fills.begin() + static_cast<std::ptrdiff_t>(ruined[i]));
  }
  for (Fill& fill : better) {
    const auto at =
        std::lower_bound(fills.begin(), fills.end(), fill,
                         [this](const Fill& a, const Fill& b) { return loses_more(a, b); });
    fills.insert(at, std::move(fill));
  }
  return true;
}

std::uint32_t RuinAndRecreate::random() {
  // Xorshift (Marsaglia).
  state_ ^= state_ << 13;
  state_ ^= state_ >> 17;
  state_ ^= state_ << 5;
  return state_;
}

}  // namespace millwright::scheduling
