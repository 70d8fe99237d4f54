#include "knapsack.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace millwright::scheduling::bench {
namespace {

constexpr double kCloseEnough = 1.0005;
constexpr std::size_t kQuickSteps = 2'000;
constexpr std::size_t kMaxSteps = 200'000;
// Weights of the first resource against the second that are tried.
constexpr int kWeights = 20;
// Of CPU, in the greatest unit that all pods ask for multiples of.
constexpr std::size_t kMaxUnits = 20'000;
// Of the table: numbers in all, and cells of memory.
constexpr std::size_t kMaxTable = 8'000'000;
constexpr std::size_t kMostCells = 1024;
// Of the price of memory without cells, which are tried with cells.
constexpr double kParts[] = {1, 0.7, 0.4, 0};
// Prices of memory that are tried, and by how much each narrows them down.
constexpr int kPrices = 16;
constexpr double kGolden = 0.618;

double part_of(std::int64_t amount, std::int64_t room) {
  return static_cast<double>(amount) / static_cast<double>(std::max<std::int64_t>(room, 1));
}

}  // namespace

Knapsack::Knapsack(const BoundedProblem& problem, const BoundedMachine& machine,
                   std::span<const double> values)
    : problem_(problem), room_(machine.room) {
  for (const std::size_t user : machine.users) {
    const BoundedClass& pods = problem.classes[user];
    if (values[user] > 0) {
      items_.push_back({.pod_class = user,
                        .requests = &pods.requests,
                        .value = values[user],
                        .limit = pods.pods});
    }
  }
  // Any weights give a bound. Those of the two resources that are asked for most are searched.
  std::vector<std::pair<double, std::size_t>> wanted(room_.size());
  for (std::size_t r = 0; r < room_.size(); ++r) {
    wanted[r].second = r;
    for (const Item& item : items_) {
      wanted[r].first += item.value * part_of((*item.requests)[r], room_[r]);
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
      item.size += weights[r] * part_of((*item.requests)[r], room_[r]);
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

Fill Knapsack::best(double least, bool thorough) {
  if (at_most_ <= least) {
    return {{}, 0, at_most_};
  }
  max_steps_ = kQuickSteps;
  bool done = search(least);
  Fill quick = found();
  quick.at_most = at_most_;
  if (!done && thorough && measure_cpu()) {
    best_value_ = std::max(least, quick.value);
    find_memory_price();
    if (at_most_ > best_value_ * kCloseEnough) {
      cut_memory();
    }
    if (at_most_ > best_value_ * kCloseEnough) {
      make_table();
      max_steps_ = kMaxSteps;
      done = search(best_value_);
      if (Fill better = found(); !better.pods.empty()) {
        quick = std::move(better);
      }
    }
  }
  if (done) {
    at_most_ = std::min(at_most_, std::max(quick.value, least) * kCloseEnough);
  }
  quick.at_most = at_most_;
  return quick;
}

Fill Knapsack::found() const {
  Fill fill;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (best_[i] > 0) {
      fill.pods.emplace_back(items_[i].pod_class, best_[i]);
      fill.value += items_[i].value * static_cast<double>(best_[i]);
    }
  }
  return fill;
}

bool Knapsack::search(double least) {
  chosen_.assign(items_.size(), 0);
  best_.assign(items_.size(), 0);
  best_value_ = least;
  steps_ = 0;
  Sizes left = room_;
  descend(0, left, 1, 0);
  return steps_ <= max_steps_;
}

double Knapsack::may_add(std::size_t index, const Sizes& left, double room) const {
  if (table_.empty()) {
    return fractional(index, room);
  }
  const auto units = static_cast<std::size_t>(left[cpu_] / unit_);
  const auto cells = cell_ > 0 ? static_cast<std::size_t>(left[memory_] / cell_) : 0;
  return table_[(index * (units_ + 1) + units) * (cells_ + 1) + cells] +
         memory_price_ * static_cast<double>(left[memory_]);
}

void Knapsack::descend(std::size_t index, Sizes& left, double room, double value) {
  if (value > best_value_) {
    best_value_ = value;
    best_ = chosen_;
  }
  if (index == items_.size() || ++steps_ > max_steps_) {
    return;
  }
  const Item& item = items_[index];
  std::int64_t most = item.limit;
  for (std::size_t r = 0; r < left.size(); ++r) {
    if ((*item.requests)[r] > 0) {
      most = std::min(most, left[r] / (*item.requests)[r]);
    }
  }
  const auto change = [&](std::int64_t by) {
    for (std::size_t r = 0; r < left.size(); ++r) {
      left[r] -= by * (*item.requests)[r];
    }
  };
  struct Choice {
    double hope;
    std::int64_t count;
    double room;
    double value;
  };
  std::vector<Choice> choices;
  for (std::int64_t count = most; count >= 0; --count) {
    const auto many = static_cast<double>(count);
    Choice choice{0, count, std::max(room - many * item.size, 0.0), value + many * item.value};
    change(count);
    choice.hope = choice.value + may_add(index + 1, left, choice.room);
    change(-count);
    choices.push_back(choice);
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.hope > b.hope; });
  for (const Choice& choice : choices) {
    if (choice.hope <= best_value_ * kCloseEnough || steps_ > max_steps_) {
      break;
    }
    change(choice.count);
    chosen_[index] = choice.count;
    descend(index + 1, left, choice.room, choice.value);
    change(-choice.count);
  }
  chosen_[index] = 0;
}

bool Knapsack::measure_cpu() {
  const auto index = [&](const char* name) {
    return static_cast<std::size_t>(
        std::find(problem_.resources.begin(), problem_.resources.end(), name) -
        problem_.resources.begin());
  };
  cpu_ = index("cpu");
  memory_ = index("memory");
  if (cpu_ == room_.size() || memory_ == room_.size()) {
    return false;
  }
  unit_ = 0;
  for (const Item& item : items_) {
    unit_ = std::gcd(unit_, (*item.requests)[cpu_]);
  }
  units_ = static_cast<std::size_t>(room_[cpu_] / std::max<std::int64_t>(unit_, 1));
  for (Item& item : items_) {
    item.units =
        static_cast<std::size_t>((*item.requests)[cpu_] / std::max<std::int64_t>(unit_, 1));
  }
  return unit_ > 0 && units_ <= kMaxUnits;
}

void Knapsack::price_memory(double price) {
  memory_price_ = price;
  for (Item& item : items_) {
    item.gain = item.value - price * static_cast<double>((*item.requests)[memory_]);
  }
}

void Knapsack::take_in(const Item& item, std::span<double> table) const {
  std::int64_t left = item.limit;
  if (item.units > 0) {
    left = std::min(left, static_cast<std::int64_t>(units_ / item.units));
  }
  // So many, as ones, twos, fours and the rest.
  for (std::int64_t many = 1; item.gain > 0 && left > 0; many *= 2) {
    many = std::min(many, left);
    left -= many;
    const std::size_t units = static_cast<std::size_t>(many) * item.units;
    const std::size_t cells = static_cast<std::size_t>(many) * item.cells;
    const double gain = item.gain * static_cast<double>(many);
    for (std::size_t c = units_ + 1; cells <= cells_ && c-- > units;) {
      double* const to = &table[c * (cells_ + 1)];
      const double* const from = &table[(c - units) * (cells_ + 1)];
      for (std::size_t m = cells_ + 1; m-- > cells;) {
        to[m] = std::max(to[m], from[m - cells] + gain);
      }
    }
  }
}

double Knapsack::filled_exactly() const {
  std::vector<double> table((units_ + 1) * (cells_ + 1),
                            memory_price_ * static_cast<double>(room_[memory_]));
  for (const Item& item : items_) {
    take_in(item, table);
  }
  return table.back();
}

void Knapsack::find_memory_price() {
  // What comes out is convex in the price. Where all memory is worth what the pods are at most,
  // there is nothing to be gained by a higher one.
  double low = 0;
  double high = at_most_ / static_cast<double>(std::max<std::int64_t>(room_[memory_], 1));
  double least = std::numeric_limits<double>::infinity();
  double best = 0;
  const auto look = [&](double price) {
    price_memory(price);
    const double value = filled_exactly();
    if (value < least) {
      least = value;
      best = price;
    }
    return value;
  };
  double a = high - kGolden * (high - low);
  double b = low + kGolden * (high - low);
  double at_a = look(a);
  double at_b = look(b);
  for (int i = 0; i < kPrices; ++i) {
    if (at_a <= at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kGolden * (high - low);
      at_a = look(a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + kGolden * (high - low);
      at_b = look(b);
    }
  }
  at_most_ = std::min(at_most_, least);
  price_memory(best);
}

void Knapsack::cut_memory() {
  const std::size_t cells = kMaxTable / ((items_.size() + 1) * (units_ + 1));
  cells_ = std::min(cells, kMostCells);
  if (cells_ == 0) {
    return;
  }
  cell_ = std::max<std::int64_t>(room_[memory_] / static_cast<std::int64_t>(cells_), 1);
  cells_ = static_cast<std::size_t>(room_[memory_] / cell_);
  for (Item& item : items_) {
    item.cells = static_cast<std::size_t>((*item.requests)[memory_] / cell_);
  }
  // What cells tell need not be told by the price.
  const double without = memory_price_;
  double price = without;
  double least = std::numeric_limits<double>::infinity();
  for (const double part : kParts) {
    price_memory(part * without);
    if (const double value = filled_exactly(); value < least) {
      least = value;
      at_most_ = std::min(at_most_, value);
      price = memory_price_;
    }
  }
  price_memory(price);
}

void Knapsack::make_table() {
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    const double left = a.gain * static_cast<double>(b.units);
    const double right = b.gain * static_cast<double>(a.units);
    return left != right ? left > right : a.pod_class < b.pod_class;
  });
  const std::size_t width = (units_ + 1) * (cells_ + 1);
  table_.assign((items_.size() + 1) * width, 0);
  for (std::size_t i = items_.size(); i-- > 0;) {
    const auto line = table_.begin() + static_cast<std::ptrdiff_t>(i * width);
    std::copy_n(line + static_cast<std::ptrdiff_t>(width), width, line);
    take_in(items_[i], std::span(table_).subspan(i * width, width));
  }
}

}  // namespace millwright::scheduling::bench
