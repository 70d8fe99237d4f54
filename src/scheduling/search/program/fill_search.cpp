#include "scheduling/search/program/fill_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace millwright::scheduling {
namespace {

// A fill is never worth nothing.
constexpr double kLeastFillValue = 1e-9;

std::vector<LotId> lots_of(const FillPods& pods) {
  std::vector<LotId> result;
  for (const auto& [lot, count] : pods) {
    result.push_back(lot);
  }
  return result;
}

}  // namespace

FillSearch::FillSearch(const Market& market, const FillPods& pods)
    : market_(market),
      lots_(lots_of(pods)),
      machines_(machines_for_these()),
      left_(market.lots.lots().size(), 0),
      limit_(market.lots.lots().size(), 0),
      requests_(market.lots.demand().size(), 0),
      pricing_(market.lots, machines_, limit_) {
  for (const SoldMachine& machine : machines_) {
    dearest_ = std::max(dearest_, machine.price);
  }
  move(pods, true);
}

std::vector<SoldMachine> FillSearch::machines_for_these() const {
  std::vector<SoldMachine> result;
  for (const SoldMachine& machine : market_.machines) {
    std::vector<LotId> users;
    std::copy_if(lots_.begin(), lots_.end(), std::back_inserter(users), [&](LotId lot) {
      return std::binary_search(machine.users.begin(), machine.users.end(), lot);
    });
    if (!users.empty()) {
      result.push_back({machine.row, machine.price, machine.room, std::move(users)});
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const SoldMachine& a, const SoldMachine& b) { return a.price < b.price; });
  return result;
}

std::vector<Fill> FillSearch::run(double most, Limits limits, std::size_t& work) {
  least_ = most;
  steps_ = limits.steps;
  best_.clear();
  descend(0, limits.discrepancies, work);
  return std::move(best_);
}

double FillSearch::at_least() const {
  return value_left_ + market_.node_cost * std::ceil(value_left_ / dearest_ - 1e-6);
}

void FillSearch::descend(double spent, int discrepancies, std::size_t& work) {
  if (pods_left_ == 0) {
    if (spent < least_) {
      least_ = spent;
      best_ = fills_;
    }
    return;
  }
  const double slack = least_ - spent - at_least();
  if (slack <= 0 || steps_ == 0 || work == 0) {
    return;
  }
  --steps_;
  finish(spent, work);
  const auto count = static_cast<std::size_t>(discrepancies) + 1;
  std::vector<Choice> next = choices(slack, count, work);
  for (std::size_t i = 0; i < next.size(); ++i) {
    const SoldMachine& machine = machines_[next[i].machine];
    fills_.push_back({machine.row, machine.price, std::move(next[i].pods)});
    const FillPods pods = fills_.back().pods;
    move(pods, false);
    descend(spent + machine.price + market_.node_cost, discrepancies - static_cast<int>(i), work);
    move(pods, true);
    fills_.pop_back();
  }
}

void FillSearch::finish(double spent, std::size_t& work) {
  work -= std::min(work, machines_.size());
  for (const SoldMachine& machine : machines_) {
    const double total = spent + machine.price + market_.node_cost;
    if (total >= least_) {
      return;
    }
    if (holds_all(machine)) {
      least_ = total;
      best_ = fills_;
      best_.push_back({machine.row, machine.price, {}});
      for (const LotId lot : lots_) {
        if (left_[lot] > 0) {
          best_.back().pods.emplace_back(lot, static_cast<std::uint32_t>(left_[lot]));
        }
      }
      return;
    }
  }
}

bool FillSearch::holds_all(const SoldMachine& machine) const {
  return fits(requests_, *machine.room) && std::all_of(lots_.begin(), lots_.end(), [&](LotId lot) {
           return left_[lot] == 0 ||
                  (left_[lot] <= market_.most[lot] &&
                   std::binary_search(machine.users.begin(), machine.users.end(), lot));
         });
}

std::vector<FillSearch::Choice> FillSearch::choices(double slack, std::size_t count,
                                                    std::size_t& work) {
  std::vector<Choice> result;
  for (std::size_t i = 0; i < machines_.size() && work > 0; ++i) {
    const double cost = machines_[i].price + market_.node_cost;
    FillPods pods = pricing_.find(i, market_.values, std::max(cost - slack, kLeastFillValue), work);
    if (pods.empty()) {
      continue;
    }
    double value = 0;
    for (const auto& [lot, many] : pods) {
      value += market_.values[lot] * many;
    }
    result.push_back({cost / value, i, std::move(pods)});
  }
  const auto kept = std::min(count, result.size());
  std::partial_sort(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(kept),
                    result.end(), [](const Choice& a, const Choice& b) {
                      return a.ratio != b.ratio ? a.ratio < b.ratio : a.machine > b.machine;
                    });
  result.resize(kept);
  return result;
}

void FillSearch::move(const FillPods& pods, bool back) {
  for (const auto& [lot, count] : pods) {
    const Amounts& requests = *market_.lots.lots()[lot].requests;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (back) {
        add_to(requests_, requests);
      } else {
        subtract_from(requests_, requests);
      }
    }
    left_[lot] = back ? left_[lot] + count : left_[lot] - count;
    limit_[lot] = std::min(left_[lot], market_.most[lot]);
    pods_left_ = back ? pods_left_ + count : pods_left_ - count;
    value_left_ += (back ? 1 : -1) * market_.values[lot] * count;
  }
}

}  // namespace millwright::scheduling
