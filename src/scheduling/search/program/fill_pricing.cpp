#include "scheduling/search/program/fill_pricing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace millwright::scheduling {
namespace {

// How the two resources that are asked for most are weighed against each other: the part of the
// first.
constexpr double kWeights[] = {0.5, 0.0, 1.0, 0.25, 0.75};
// Nodes of one search tree.
constexpr std::size_t kMaxPricingSteps = 300;
// The greedy fill takes this part of the pods of a lot that fit before it looks at all lots again.
constexpr std::size_t kAtOnce = 8;
// Branches that cannot improve the best fill by this factor are cut.
constexpr double kCloseEnough = 1.0005;

double part_of(std::int64_t amount, std::int64_t room) {
  return static_cast<double>(amount) / static_cast<double>(std::max<std::int64_t>(room, 1));
}

}  // namespace

void FillPricing::weigh(const SoldMachine& machine, std::size_t weight) {
  const auto [first, second] = scarce_;
  const double of_first = first == second ? 1 : kWeights[weight];
  const double one = of_first * part_of(1, (*machine.room)[first]);
  const double other = (1 - of_first) * part_of(1, (*machine.room)[second]);
  for (Item& item : items_) {
    const Amounts& requests = *lots_.lots()[item.lot].requests;
    item.size =
        one * static_cast<double>(requests[first]) + other * static_cast<double>(requests[second]);
    // Those that take nothing of either come first.
    item.density = item.size > 0 ? item.value / item.size : std::numeric_limits<double>::infinity();
  }
}

void FillPricing::sort_items() {
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    return a.density != b.density ? a.density > b.density : a.lot < b.lot;
  });
}

double FillPricing::at_most(std::size_t from, double room) const {
  double value = 0;
  for (std::size_t i = from; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const double all = item.size * static_cast<double>(item.limit);
    if (all >= room) {
      return value + (item.size > 0 ? item.value * room / item.size : 0);
    }
    value += item.value * static_cast<double>(item.limit);
    room -= all;
  }
  return value;
}

bool FillPricing::list_items(const SoldMachine& machine, const ById<LotId, double>& values,
                             double least, std::size_t& weight) {
  items_.clear();
  const std::size_t columns = machine.room->size();
  std::vector<std::pair<double, std::size_t>> wanted(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    wanted[c].second = c;
  }
  for (const LotId lot : machine.users) {
    if (values[lot] <= 0 || most_[lot] == 0) {
      continue;
    }
    items_.push_back({.lot = lot, .value = values[lot], .limit = most_[lot]});
    for (std::size_t c = 0; c < columns; ++c) {
      wanted[c].first +=
          values[lot] * part_of((*lots_.lots()[lot].requests)[c], (*machine.room)[c]);
    }
  }
  std::sort(wanted.rbegin(), wanted.rend());
  scarce_ = {wanted[0].second, wanted[std::min<std::size_t>(1, columns - 1)].second};
  weigh(machine, weight);
  // As if there were enough of the pod that is worth most for its size.
  return std::any_of(items_.begin(), items_.end(),
                     [&](const Item& item) { return item.value > least * item.size; });
}

FillPods FillPricing::find(std::size_t index, const ById<LotId, double>& values, double least,
                           std::size_t& work) {
  const SoldMachine& machine = machines_[index];
  std::size_t& weight = weights_[index];
  work -= std::min(work, machine.users.size());
  if (!list_items(machine, values, least, weight)) {
    return {};
  }
  double bound = std::numeric_limits<double>::infinity();
  for (std::size_t w = 0; w < std::size(kWeights); ++w) {
    weigh(machine, w);
    sort_items();
    work -= std::min(work, 2 * items_.size());
    if (const double now = at_most(0, 1); now < bound) {
      bound = now;
      weight = w;
    }
    if (bound <= least) {
      return {};
    }
  }
  weigh(machine, weight);
  sort_items();
  left_ = *machine.room;
  chosen_.assign(items_.size(), 0);
  best_.assign(items_.size(), 0);
  best_value_ = least;
  steps_ = 0;
  fill_greedily(weight, work);
  left_ = *machine.room;
  chosen_.assign(items_.size(), 0);
  descend(0, 1, 0);
  work -= std::min(work, 4 * steps_);
  FillPods result;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (best_[i] > 0) {
      result.emplace_back(items_[i].lot, static_cast<std::uint32_t>(best_[i]));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

void FillPricing::fill_greedily(std::size_t weight, std::size_t& work) {
  const auto [first, second] = scarce_;
  const double of_first = first == second ? 1 : kWeights[weight];
  double value = 0;
  while (true) {
    const double one = of_first * part_of(1, left_[first]);
    const double other = (1 - of_first) * part_of(1, left_[second]);
    const Item* best = nullptr;
    double most = 0;
    for (const Item& item : items_) {
      const Amounts& requests = *lots_.lots()[item.lot].requests;
      const double size = one * static_cast<double>(requests[first]) +
                          other * static_cast<double>(requests[second]) + 1e-9;
      if (item.value > most * size && chosen_[index_of(item)] < item.limit &&
          fits(requests, left_)) {
        best = &item;
        most = item.value / size;
      }
    }
    work -= std::min(work, items_.size() / 4 + 1);
    if (best == nullptr) {
      break;
    }
    const std::size_t room = std::min(room_for(*best), best->limit - chosen_[index_of(*best)]);
    const std::size_t count = std::max<std::size_t>(room / kAtOnce, 1);
    take(*best, static_cast<std::int64_t>(count));
    chosen_[index_of(*best)] += count;
    value += best->value * static_cast<double>(count);
  }
  if (value > best_value_) {
    best_value_ = value;
    best_ = chosen_;
  }
}

std::size_t FillPricing::room_for(const Item& item) const {
  const Amounts& requests = *lots_.lots()[item.lot].requests;
  auto count = static_cast<std::int64_t>(item.limit);
  for (std::size_t c = 0; c < left_.size(); ++c) {
    if (requests[c] > 0) {
      count = std::min(count, left_[c] / requests[c]);
    }
  }
  return static_cast<std::size_t>(count);
}

void FillPricing::take(const Item& item, std::int64_t count) {
  const Amounts& requests = *lots_.lots()[item.lot].requests;
  for (std::size_t c = 0; c < left_.size(); ++c) {
    left_[c] -= count * requests[c];
  }
}

void FillPricing::descend(std::size_t index, double room, double value) {
  if (value > best_value_) {
    best_value_ = value;
    best_ = chosen_;
  }
  std::size_t most = 0;
  while (index < items_.size() && !fits(*lots_.lots()[items_[index].lot].requests, left_)) {
    ++index;
  }
  if (index < items_.size()) {
    most = room_for(items_[index]);
  }
  if (index == items_.size() || ++steps_ > kMaxPricingSteps ||
      value + at_most(index, room) <= best_value_ * kCloseEnough) {
    return;
  }
  const Item& item = items_[index];
  for (std::size_t count = most + 1; count-- > 0 && steps_ <= kMaxPricingSteps;) {
    const auto many = static_cast<double>(count);
    take(item, static_cast<std::int64_t>(count));
    chosen_[index] = count;
    descend(index + 1, std::max(room - many * item.size, 0.0), value + many * item.value);
    take(item, -static_cast<std::int64_t>(count));
  }
  chosen_[index] = 0;
}

}  // namespace millwright::scheduling
