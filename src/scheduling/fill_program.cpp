#include "scheduling/fill_program.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace millwright::scheduling {
namespace {

constexpr std::size_t kSurplus = std::size_t{1} << 32;
constexpr double kTolerance = 1e-9;
constexpr double kNothing = 1e-14;
// Work is counted in lots looked at; so many multiplications are as much.
constexpr std::size_t kPerLot = 24;

}  // namespace

FillProgram::FillProgram(const std::vector<std::size_t>& pods, const std::vector<double>& alone,
                         std::size_t exact)
    : exact_(exact),
      values_(alone),
      inverse_(pods.size() * pods.size(), 0),
      entering_(pods.size(), 0) {
  for (std::uint32_t lot = 0; lot < pods.size(); ++lot) {
    columns_.push_back({alone[lot], {{lot, 1}}});
    inverse_[lot * pods.size() + lot] = 1;
    taken_.push_back(static_cast<double>(pods[lot]));
    basis_.push_back(lot);
  }
}

void FillProgram::add(double price, FillPods pods) {
  columns_.push_back({price, std::move(pods)});
}

double FillProgram::price() const {
  double total = 0;
  for (std::size_t i = 0; i < basis_.size(); ++i) {
    total += basis_[i] < kSurplus ? columns_[basis_[i]].price * taken_[i] : 0;
  }
  return total;
}

std::vector<double> FillProgram::shares() const {
  std::vector<double> result(columns_.size(), 0);
  for (std::size_t i = 0; i < basis_.size(); ++i) {
    if (basis_[i] < kSurplus) {
      result[basis_[i]] = std::max(taken_[i], 0.0);
    }
  }
  return result;
}

bool FillProgram::find_entering(std::size_t& entering) const {
  double most = kTolerance;
  bool found = false;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    double worth = 0;
    for (const auto& [lot, count] : columns_[j].pods) {
      worth += values_[lot] * count;
    }
    // By the price, so that large machines are not preferred.
    const double saving = worth / std::max(columns_[j].price, kTolerance) - 1;
    if (saving > most) {
      most = saving;
      entering = j;
      found = true;
    }
  }
  if (!found) {
    for (std::size_t lot = 0; lot + exact_ < lots(); ++lot) {
      if (-values_[lot] > most) {
        most = -values_[lot];
        entering = kSurplus + lot;
        found = true;
      }
    }
  }
  return found;
}

bool FillProgram::pivot(std::size_t column) {
  const std::size_t size = lots();
  double saving = 0;
  std::fill(entering_.begin(), entering_.end(), 0);
  const auto enter = [&](std::size_t lot, double count) {
    saving += values_[lot] * count;
    for (std::size_t i = 0; i < size; ++i) {
      entering_[i] += inverse_[i * size + lot] * count;
    }
  };
  if (column >= kSurplus) {
    enter(column - kSurplus, -1);
  } else {
    saving -= columns_[column].price;
    for (const auto& [lot, count] : columns_[column].pods) {
      enter(lot, count);
    }
  }
  std::optional<std::size_t> leaving;
  for (std::size_t i = 0; i < size; ++i) {
    if (entering_[i] <= kTolerance) {
      continue;
    }
    const double ratio = taken_[i] / entering_[i];
    const double least = leaving ? taken_[*leaving] / entering_[*leaving] : 0;
    if (!leaving || ratio < least || (ratio == least && entering_[i] > entering_[*leaving])) {
      leaving = i;
    }
  }
  if (!leaving) {
    return false;
  }
  const double scale = entering_[*leaving];
  double* const line = &inverse_[*leaving * size];
  filled_.clear();
  for (std::size_t c = 0; c < size; ++c) {
    if (std::abs(line[c]) < kNothing) {
      line[c] = 0;
      continue;
    }
    line[c] /= scale;
    values_[c] -= saving * line[c];
    filled_.push_back(c);
  }
  const bool dense = filled_.size() * 4 > size;
  const double amount = std::max(taken_[*leaving], 0.0) / scale;
  for (std::size_t i = 0; i < size; ++i) {
    if (i != *leaving && std::abs(entering_[i]) > kNothing) {
      taken_[i] -= amount * entering_[i];
      double* const other = &inverse_[i * size];
      if (dense) {
        for (std::size_t c = 0; c < size; ++c) {
          other[c] -= entering_[i] * line[c];
        }
      } else {
        for (const std::size_t c : filled_) {
          other[c] -= entering_[i] * line[c];
        }
      }
    }
  }
  taken_[*leaving] = amount;
  basis_[*leaving] = column;
  return true;
}

void FillProgram::solve(std::size_t& work) {
  const std::size_t most = 20 * lots() + 100;
  for (std::size_t step = 0; step < most && work > 0; ++step) {
    const std::size_t cost = (columns_.size() + lots() * lots()) / kPerLot + 1;
    work -= std::min(work, cost);
    std::size_t entering = 0;
    if (!find_entering(entering) || !pivot(entering)) {
      return;
    }
  }
}

}  // namespace millwright::scheduling
