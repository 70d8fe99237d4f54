#include "scheduling/resource_prices.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace millwright::scheduling {
namespace {

constexpr double kTolerance = 1e-9;
// Each step brings one resource closer to being covered; there are a handful of those.
constexpr int kMaxSteps = 200;

// The linear program "minimise price . x where room . x >= 1 for each resource", all rooms divided
// by the demand, by the dual simplex method: buying nothing is where it starts, which is too little
// of everything but overpays for nothing.
class CoveringProgram {
 public:
  CoveringProgram(std::span<const Machine> machines, const Amounts& demand,
                  const std::vector<std::size_t>& columns)
      : width_(machines.size() + columns.size()), reduced_(width_, 0) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      auto& line = lines_.emplace_back(width_ + 1, 0.0);
      for (std::size_t m = 0; m < machines.size(); ++m) {
        line[m] = -static_cast<double>((*machines[m].room)[columns[i]]) /
                  static_cast<double>(demand[columns[i]]);
      }
      line[machines.size() + i] = 1;
      line[width_] = -1;
    }
    for (std::size_t m = 0; m < machines.size(); ++m) {
      reduced_[m] = machines[m].price;
    }
  }

  void run() {
    for (int step = 0; step < kMaxSteps; ++step) {
      const auto short_of =
          std::min_element(lines_.begin(), lines_.end(),
                           [&](const auto& a, const auto& b) { return a[width_] < b[width_]; });
      if (short_of == lines_.end() || (*short_of)[width_] >= -kTolerance) {
        return;
      }
      const auto entering = cheapest_way(*short_of);
      if (!entering) {
        return;
      }
      pivot(*short_of, *entering);
    }
  }

  // Of the i-th resource, as a whole.
  double price(std::size_t i) const { return std::max(reduced_[width_ - lines_.size() + i], 0.0); }

 private:
  using Line = std::vector<double>;

  std::optional<std::size_t> cheapest_way(const Line& line) const {
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t j = 0; j < width_; ++j) {
      if (line[j] < -kTolerance) {
        const double ratio = reduced_[j] / -line[j];
        if (!best || ratio < least) {
          best = j;
          least = ratio;
        }
      }
    }
    return best;
  }

  void pivot(Line& line, std::size_t entering) {
    const double scale = line[entering];
    for (double& value : line) {
      value /= scale;
    }
    for (Line& other : lines_) {
      if (&other != &line && other[entering] != 0) {
        const double factor = other[entering];
        for (std::size_t j = 0; j <= width_; ++j) {
          other[j] -= factor * line[j];
        }
      }
    }
    const double factor = reduced_[entering];
    for (std::size_t j = 0; j < width_; ++j) {
      reduced_[j] -= factor * line[j];
    }
  }

  std::size_t width_;
  std::vector<Line> lines_;  // one per resource; what is missing of it comes last
  Line reduced_;             // what each machine costs beyond what its room is worth
};

}  // namespace

std::vector<double> resource_prices(std::span<const Machine> machines, const Amounts& demand) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < demand.size(); ++c) {
    const bool sold = std::any_of(machines.begin(), machines.end(),
                                  [&](const Machine& machine) { return (*machine.room)[c] > 0; });
    if (demand[c] > 0 && sold) {
      columns.push_back(c);
    }
  }
  CoveringProgram program(machines, demand, columns);
  program.run();
  std::vector<double> prices(demand.size(), 0);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    prices[columns[i]] = program.price(i) / static_cast<double>(demand[columns[i]]);
  }
  return prices;
}

std::vector<double> with_floor(std::vector<double> prices, const Amounts& demand, double floor) {
  const double total = worth(demand, prices);
  for (std::size_t c = 0; c < prices.size(); ++c) {
    if (demand[c] > 0) {
      prices[c] = std::max(prices[c], floor * total / static_cast<double>(demand[c]));
    }
  }
  return prices;
}

double worth(const Amounts& amounts, std::span<const double> prices) {
  double total = 0;
  for (std::size_t c = 0; c < amounts.size(); ++c) {
    total += static_cast<double>(amounts[c]) * prices[c];
  }
  return total;
}

}  // namespace millwright::scheduling
