#include "knapsack.hpp"

#include <algorithm>
#include <limits>

namespace millwright::scheduling::bench {
namespace {

constexpr double kCloseEnough = 1.001;
constexpr std::size_t kMaxSteps = 20'000;
// Weights of the first resource against the second that are tried.
constexpr int kWeights = 20;

}  // namespace

Knapsack::Knapsack(const BoundedProblem& problem, const BoundedMachine& machine,
                   std::span<const double> values)
    : room_(machine.room) {
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

Fill Knapsack::best() {
  chosen_.assign(items_.size(), 0);
  best_.assign(items_.size(), 0);
  best_value_ = 0;
  steps_ = 0;
  Sizes left = room_;
  descend(0, left, 1, 0);
  Fill fill{{}, best_value_, std::min(at_most_, best_value_ * kCloseEnough)};
  if (steps_ > kMaxSteps) {
    fill.at_most = at_most_;
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (best_[i] > 0) {
      fill.pods.emplace_back(items_[i].pod_class, best_[i]);
    }
  }
  return fill;
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
