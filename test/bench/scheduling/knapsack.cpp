#include "knapsack.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace millwright::scheduling::bench {
namespace {

constexpr double kCloseEnough = 1.001;
constexpr std::size_t kMaxSteps = 20'000;
// Weights of the first resource against the second that are tried.
constexpr int kWeights = 20;
// Of CPU, in the greatest unit that all pods ask for multiples of.
constexpr std::size_t kMaxUnits = 20'000;

}  // namespace

Knapsack::Knapsack(const BoundedProblem& problem, const BoundedMachine& machine,
                   std::span<const double> values)
    : problem_(problem), room_(machine.room) {
  for (const std::size_t user : machine.users) {
    const BoundedClass& pods = problem.classes[user];
    if (values[user] > 0) {
      items_.push_back({user, &pods.requests, values[user], 0, pods.pods});
    }
  }
  // Any weights give a bound. Those of the two resources that are asked for most are searched.
  std::vector<std::pair<double, std::size_t>> wanted(room_.size());
  for (std::size_t r = 0; r < room_.size(); ++r) {
    wanted[r].second = r;
    for (const Item& item : items_) {
      wanted[r].first += item.value * static_cast<double>((*item.requests)[r]) /
                         static_cast<double>(std::max<std::int64_t>(room_[r], 1));
    }
  }
  std::sort(wanted.rbegin(), wanted.rend());
  at_most_ = std::numeric_limits<double>::infinity();
  std::vector<double> best(room_.size(), 0);
  for (int i = 0; i <= kWeights; ++i) {
    std::vector<double> weights(room_.size(), 0);
    weights[wanted[0].second] = static_cast<double>(i) / kWeights;
    if (wanted.size() > 1) {
      weights[wanted[1].second] = 1 - weights[wanted[0].second];
    }
    weigh(weights);
    if (const double bound = fractional(0, 1); bound < at_most_) {
      at_most_ = bound;
      best = weights;
    }
  }
  weigh(best);
  weights_ = std::move(best);
}

void Knapsack::weigh(std::span<const double> weights) {
  for (Item& item : items_) {
    item.size = 0;
    for (std::size_t r = 0; r < room_.size(); ++r) {
      item.size += weights[r] * static_cast<double>((*item.requests)[r]) /
                   static_cast<double>(std::max<std::int64_t>(room_[r], 1));
    }
  }
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    const double left = a.value * b.size;
    const double right = b.value * a.size;
    return left != right ? left > right : a.pod_class < b.pod_class;
  });
}

double Knapsack::fractional(std::size_t from, double room) const {
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

Fill Knapsack::best(bool thorough) {
  chosen_.assign(items_.size(), 0);
  best_.assign(items_.size(), 0);
  best_value_ = 0;
  steps_ = 0;
  Sizes left = room_;
  descend(0, left, 1, 0);
  Fill fill{{}, best_value_, std::min(at_most_, best_value_ * kCloseEnough)};
  if (steps_ > kMaxSteps) {
    fill.at_most = thorough ? std::min(at_most_, at_most_by_cpu()) : at_most_;
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (best_[i] > 0) {
      fill.pods.emplace_back(items_[i].pod_class, best_[i]);
    }
  }
  return fill;
}

double Knapsack::at_most_by_cpu() const {
  const auto index = [&](const char* name) {
    return static_cast<std::size_t>(
        std::find(problem_.resources.begin(), problem_.resources.end(), name) -
        problem_.resources.begin());
  };
  const std::size_t cpu = index("cpu");
  const std::size_t memory = index("memory");
  if (cpu == room_.size() || memory == room_.size()) {
    return at_most_;
  }
  // What a unit of room is worth where the fractional fill ends.
  double density = 0;
  double room = 1;
  for (const Item& item : items_) {
    density = item.size > 0 ? item.value / item.size : density;
    room -= item.size * static_cast<double>(item.limit);
    if (room <= 0) {
      break;
    }
  }
  const double price = density * weights_[memory] / static_cast<double>(room_[memory]);
  double least = filled_exactly(cpu, memory, 0);
  for (const double factor : {0.25, 0.5, 0.7, 0.85, 1.0, 1.15, 1.4, 1.8}) {
    least = std::min(least, filled_exactly(cpu, memory, factor * price));
  }
  return least;
}

double Knapsack::filled_exactly(std::size_t cpu, std::size_t memory, double memory_price) const {
  std::int64_t unit = 0;
  for (const Item& item : items_) {
    unit = std::gcd(unit, (*item.requests)[cpu]);
  }
  const auto units = static_cast<std::size_t>(room_[cpu] / std::max<std::int64_t>(unit, 1));
  if (unit == 0 || units > kMaxUnits) {
    return std::numeric_limits<double>::infinity();
  }
  std::vector<double> value(units + 1, memory_price * static_cast<double>(room_[memory]));
  for (const Item& item : items_) {
    const double one = item.value - memory_price * static_cast<double>((*item.requests)[memory]);
    // So many, as ones, twos, fours and the rest.
    for (std::int64_t left = one > 0 ? item.limit : 0, many = 1; left > 0; many *= 2) {
      many = std::min(many, left);
      left -= many;
      const auto size = static_cast<std::size_t>(many * (*item.requests)[cpu] / unit);
      const double gain = one * static_cast<double>(many);
      for (std::size_t c = units; c >= size && c <= units; --c) {
        value[c] = std::max(value[c], value[c - size] + gain);
      }
    }
  }
  return value[units];
}

void Knapsack::descend(std::size_t index, Sizes& left, double room, double value) {
  if (value > best_value_) {
    best_value_ = value;
    best_ = chosen_;
  }
  if (index == items_.size() || ++steps_ > kMaxSteps ||
      value + fractional(index, room) <= best_value_ * kCloseEnough) {
    return;
  }
  const Item& item = items_[index];
  std::int64_t count = item.limit;
  for (std::size_t r = 0; r < left.size(); ++r) {
    if ((*item.requests)[r] > 0) {
      count = std::min(count, left[r] / (*item.requests)[r]);
    }
  }
  for (; count >= 0; --count) {
    for (std::size_t r = 0; r < left.size(); ++r) {
      left[r] -= count * (*item.requests)[r];
    }
    chosen_[index] = count;
    const auto many = static_cast<double>(count);
    descend(index + 1, left, std::max(room - many * item.size, 0.0), value + many * item.value);
    for (std::size_t r = 0; r < left.size(); ++r) {
      left[r] += count * (*item.requests)[r];
    }
  }
  chosen_[index] = 0;
}

}  // namespace millwright::scheduling::bench
