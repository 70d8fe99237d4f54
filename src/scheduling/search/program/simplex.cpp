#include "scheduling/search/program/simplex.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr std::size_t kSurplus = std::size_t{1} << 32;
constexpr double kSimplexTolerance = 1e-9;
// Smaller numbers in the inverse are rounding errors.
constexpr double kZero = 1e-14;
// A basis without a larger pivot is taken for singular.
constexpr double kSingular = 1e-11;
// Pivots between two looks at the residual.
constexpr std::size_t kLookEvery = 64;
// Work is counted in lots looked at; so many multiplications are as much.
constexpr std::size_t kPerLot = 24;

}  // namespace

Simplex::Simplex(Rows rows) : Simplex(std::move(rows), Reinversion{}) {}

Simplex::Simplex(Rows rows, Reinversion reinversion)
    : demand_(std::move(rows.demand)),
      exact_(rows.exact),
      reinversion_(reinversion),
      begin_{0},
      inverse_(demand_.size() * demand_.size(), 0),
      amounts_(demand_),
      duals_(rows.unit_costs),
      direction_(demand_.size(), 0),
      pivot_row_(demand_.size(), 0) {
  for (std::uint32_t row = 0; row < demand_.size(); ++row) {
    add(rows.unit_costs[row], {{Entry{row, 1}}});
    surplus_.push_back({row, -1});
    basis_.push_back(row);
    inverse_[row * demand_.size() + row] = 1;
    highest_cost_ = std::max(highest_cost_, rows.unit_costs[row]);
  }
}

void Simplex::add(double cost, std::span<const Entry> entries) {
  costs_.push_back(cost);
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  begin_.push_back(entries_.size());
}

std::span<const Simplex::Entry> Simplex::entries(std::size_t column) const {
  if (column >= kSurplus) {
    return {&surplus_[column - kSurplus], 1};
  }
  return {entries_.data() + begin_[column], begin_[column + 1] - begin_[column]};
}

double Simplex::cost(std::size_t column) const {
  return column < kSurplus ? costs_[column] : 0;
}

double Simplex::profit(std::size_t column) const {
  double profit = -cost(column);
  for (const auto& [row, amount] : entries(column)) {
    profit += duals_[row] * amount;
  }
  return profit;
}

double Simplex::objective() const {
  double total = 0;
  for (std::size_t row = 0; row < rows(); ++row) {
    total += cost(basis_[row]) * amounts_[row];
  }
  return total;
}

std::vector<double> Simplex::amounts() const {
  std::vector<double> result(costs_.size(), 0);
  for (std::size_t row = 0; row < rows(); ++row) {
    if (basis_[row] < kSurplus) {
      result[basis_[row]] = std::max(amounts_[row], 0.0);
    }
  }
  return result;
}

double Simplex::residual() const {
  std::vector<double> missing = demand_;
  double largest = 0;
  for (std::size_t row = 0; row < rows(); ++row) {
    for (const auto& [covered, amount] : entries(basis_[row])) {
      missing[covered] -= amount * amounts_[row];
    }
    largest = std::max(largest,
                       std::abs(profit(basis_[row])) / std::max(highest_cost_, kSimplexTolerance));
  }
  for (std::size_t row = 0; row < rows(); ++row) {
    largest = std::max(largest, std::abs(missing[row]) / std::max(demand_[row], 1.0));
  }
  return largest;
}

void Simplex::solve(std::size_t& work) {
  const std::size_t most = 20 * rows() + 100;
  for (std::size_t step = 0; step < most && work > 0; ++step) {
    const std::size_t look = (costs_.size() + rows() * rows()) / kPerLot + 1;
    work -= std::min(work, look);
    const auto column = entering_column();
    if (column) {
      express(*column);
    }
    const auto row = column ? leaving_row() : std::nullopt;
    if (row) {
      pivot(*row, *column);
    }
    if (needs_reinversion(!row)) {
      work -= std::min(work, look * rows());
      reinvert();
    } else if (!row) {
      return;
    }
  }
}

std::optional<std::size_t> Simplex::entering_column() const {
  std::optional<std::size_t> entering;
  double most = kSimplexTolerance;
  for (std::size_t column = 0; column < costs_.size(); ++column) {
    double worth = 0;
    for (const auto& [row, amount] : entries(column)) {
      worth += duals_[row] * amount;
    }
    // As a part of the cost, so that large machines are not preferred.
    const double saving = worth / std::max(costs_[column], kSimplexTolerance) - 1;
    if (saving > most) {
      most = saving;
      entering = column;
    }
  }
  if (entering) {
    return entering;
  }
  // A row may get more than it demands.
  for (std::size_t row = 0; row + exact_ < rows(); ++row) {
    if (-duals_[row] > most) {
      entering = kSurplus + row;
      most = -duals_[row];
    }
  }
  return entering;
}

void Simplex::express(std::size_t column) {
  std::fill(direction_.begin(), direction_.end(), 0);
  for (const auto& [row, amount] : entries(column)) {
    const double* const inverse = &inverse_[row * rows()];
    for (std::size_t i = 0; i < rows(); ++i) {
      direction_[i] += inverse[i] * amount;
    }
  }
}

std::optional<std::size_t> Simplex::leaving_row() const {
  std::optional<std::size_t> leaving;
  double least = 0;
  for (std::size_t row = 0; row < rows(); ++row) {
    if (direction_[row] <= kSimplexTolerance) {
      continue;
    }
    const double ratio = amounts_[row] / direction_[row];
    // Of rows that reach zero at once, the one with the largest pivot is the most accurate.
    if (!leaving || ratio < least || (ratio == least && direction_[row] > direction_[*leaving])) {
      leaving = row;
      least = ratio;
    }
  }
  return leaving;
}

void Simplex::pivot(std::size_t row, std::size_t column) {
  const double gain = profit(column);
  const double amount = std::max(amounts_[row], 0.0) / direction_[row];
  eliminate(row);
  for (std::size_t i = 0; i < rows(); ++i) {
    duals_[i] -= gain * pivot_row_[i];
    amounts_[i] -= amount * direction_[i];
  }
  amounts_[row] = amount;
  basis_[row] = column;
  ++pivots_;
}

void Simplex::eliminate(std::size_t row) {
  const double scale = direction_[row];
  direction_[row] = 0;  // the row itself is only scaled
  for (double& value : direction_) {
    value = std::abs(value) > kZero ? value : 0;
  }
  for (std::size_t i = 0; i < rows(); ++i) {
    double* const inverse = &inverse_[i * rows()];
    pivot_row_[i] = std::abs(inverse[row]) < kZero ? 0 : inverse[row] / scale;
    inverse[row] = pivot_row_[i];
    if (const double factor = pivot_row_[i]; factor != 0) {
      for (std::size_t j = 0; j < rows(); ++j) {
        inverse[j] -= direction_[j] * factor;
      }
    }
  }
}

bool Simplex::needs_reinversion(bool optimal) const {
  if (pivots_ >= reinversion_.pivots + reinversion_.pivots_per_row * rows()) {
    return true;
  }
  return pivots_ > 0 && (optimal || pivots_ % kLookEvery == 0) &&
         residual() > reinversion_.residual;
}

void Simplex::reinvert() {
  pivots_ = 0;
  std::vector<double> inverse = inverse_;
  if (!invert()) {
    inverse_ = std::move(inverse);
    return;
  }
  for (std::size_t row = 0; row < rows(); ++row) {
    const double* const column = &inverse_[row * rows()];
    duals_[row] = 0;
    for (std::size_t i = 0; i < rows(); ++i) {
      duals_[row] += cost(basis_[i]) * column[i];
    }
  }
  std::fill(amounts_.begin(), amounts_.end(), 0);
  for (std::size_t row = 0; row < rows(); ++row) {
    const double* const column = &inverse_[row * rows()];
    for (std::size_t i = 0; i < rows(); ++i) {
      amounts_[i] += column[i] * demand_[row];
    }
  }
}

bool Simplex::invert() {
  // Columns with few entries first: they keep the inverse sparse for longest.
  std::vector<std::size_t> columns = basis_;
  std::sort(columns.begin(), columns.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(entries(a).size(), a) < std::pair(entries(b).size(), b);
  });
  std::fill(inverse_.begin(), inverse_.end(), 0);
  for (std::size_t row = 0; row < rows(); ++row) {
    inverse_[row * rows() + row] = 1;
  }
  std::vector<std::optional<std::size_t>> basis(rows());
  for (const std::size_t column : columns) {
    express(column);
    std::optional<std::size_t> largest;
    for (std::size_t row = 0; row < rows(); ++row) {
      if (!basis[row] && (!largest || std::abs(direction_[row]) > std::abs(direction_[*largest]))) {
        largest = row;
      }
    }
    if (!largest || std::abs(direction_[*largest]) < kSingular) {
      return false;
    }
    eliminate(*largest);
    basis[*largest] = column;
  }
  std::transform(basis.begin(), basis.end(), basis_.begin(), [](const auto& c) { return *c; });
  return true;
}

}  // namespace millwright::scheduling
