#include "scheduling/search/exact/machine_covers.hpp"

#include "scheduling/search/program/simplex.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace millwright::scheduling {
namespace {

// Rounding errors of sums of parts.
constexpr double kNothingMissing = 1e-9;
// Work is counted in lots looked at; so many demands are as much.
constexpr std::size_t kDemandsPerLot = 8;
// Where lots differ more than this in the machines that they may use, only all of them together
// count.
constexpr std::size_t kMostKinds = 32;

}  // namespace

MachineCovers::MachineCovers(const FillSearch::Market& market, std::size_t free_nodes,
                             std::size_t& work)
    : market_(market), free_nodes_(free_nodes) {
  for (std::size_t i = 0; i < market.machines.size(); ++i) {
    columns_.push_back({i, market.machines[i].price, {}});
  }
  std::sort(columns_.begin(), columns_.end(), [](const Column& a, const Column& b) {
    return a.price != b.price ? a.price > b.price : a.machine < b.machine;
  });
  list_demands();
  work -= std::min(work, missing_.size() * columns_.size() / kDemandsPerLot);
  find_most();
  find_worths(work);
}

void MachineCovers::list_demands() {
  // Lots by the machines that they may use, one entry for each column.
  const auto& lots = market_.lots.lots();
  ById<LotId, std::vector<bool>> usable(lots.size(), std::vector<bool>(columns_.size()));
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const LotId lot : market_.machines[columns_[c].machine].users) {
      usable[lot][c] = true;
    }
  }
  std::map<std::vector<bool>, std::vector<LotId>> by_machines;
  for (LotId lot; lot < lots.end_id(); ++lot) {
    if (lots[lot].left > 0) {
      by_machines[usable[lot]].push_back(lot);
    }
  }
  if (by_machines.size() > kMostKinds) {
    std::vector<LotId> all;
    for (const auto& [machines, those] : by_machines) {
      all.insert(all.end(), those.begin(), those.end());
    }
    by_machines = {{std::vector<bool>(columns_.size(), true), all}};
  }
  for (const auto& [machines, own] : by_machines) {
    std::vector<LotId> tied;
    for (const auto& [others, those] : by_machines) {
      bool within = true;
      for (std::size_t c = 0; c < columns_.size() && within; ++c) {
        within = !others[c] || machines[c];
      }
      if (within) {
        tied.insert(tied.end(), those.begin(), those.end());
      }
    }
    add_demands(tied, machines);
  }
}

void MachineCovers::add_demands(const std::vector<LotId>& tied, const std::vector<bool>& machines) {
  const std::size_t width = market_.lots.demand().size();
  for (std::size_t of = 0; of < width; ++of) {
    double demand = 0;
    std::vector<double> most_per(width, 0);  // of the resource, for a unit of each other one
    for (const LotId lot : tied) {
      const Amounts& requests = *market_.lots.lots()[lot].requests;
      const auto amount = static_cast<double>(requests[of]);
      demand += amount * static_cast<double>(market_.lots.lots()[lot].left);
      for (std::size_t other = 0; other < width && amount > 0; ++other) {
        most_per[other] =
            requests[other] > 0
                ? std::max(most_per[other], amount / static_cast<double>(requests[other]))
                : std::numeric_limits<double>::infinity();
      }
    }
    if (demand <= 0) {
      continue;
    }
    missing_.push_back(1);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Amounts& room = *market_.machines[columns_[c].machine].room;
      double most = machines[c] ? static_cast<double>(room[of]) : 0;
      for (std::size_t other = 0; other < width && most > 0; ++other) {
        if (most_per[other] < std::numeric_limits<double>::infinity()) {
          most = std::min(most, static_cast<double>(room[other]) * most_per[other]);
        }
      }
      columns_[c].covers.push_back(std::max(most, 0.0) / demand);
    }
  }
}

void MachineCovers::find_most() {
  most_.assign(columns_.size() + 1, std::vector<double>(missing_.size(), 0));
  for (std::size_t c = columns_.size(); c-- > 0;) {
    for (std::size_t d = 0; d < missing_.size(); ++d) {
      most_[c][d] = std::max(most_[c + 1][d], columns_[c].covers[d]);
    }
  }
}

void MachineCovers::find_worths(std::size_t& work) {
  const std::size_t demands = missing_.size();
  std::vector<double> alone(demands, std::numeric_limits<double>::max());
  for (const Column& column : columns_) {
    for (std::size_t d = 0; d < demands; ++d) {
      if (column.covers[d] > 0) {
        alone[d] = std::min(alone[d], column.price / column.covers[d]);
      }
    }
  }
  Simplex program({missing_, alone});
  for (const Column& column : columns_) {
    std::vector<Simplex::Entry> entries;
    for (std::uint32_t d = 0; d < demands; ++d) {
      if (column.covers[d] > 0) {
        entries.push_back({d, column.covers[d]});
      }
    }
    program.add(column.price, entries);
  }
  program.solve(work);
  worths_.resize(demands);
  for (std::size_t d = 0; d < demands; ++d) {
    worths_[d] = std::max(program.dual_price(d), 0.0);
  }
  // Whatever rounding errors there are, and if the optimum was not reached: the bound is one.
  double largest = 1;
  for (const Column& column : columns_) {
    largest = std::max(largest, worth_of(column.covers) / column.price);
  }
  for (double& worth : worths_) {
    worth /= largest;
  }
}

double MachineCovers::worth_of(const std::vector<double>& missing) const {
  double total = 0;
  for (std::size_t d = 0; d < missing.size(); ++d) {
    total += worths_[d] * missing[d];
  }
  return total;
}

std::size_t MachineCovers::machines_needed(const std::vector<double>& missing,
                                           std::size_t column) const {
  double most = 0;
  for (std::size_t d = 0; d < missing.size(); ++d) {
    if (missing[d] > kNothingMissing) {
      most = std::max(most, missing[d] / most_[column][d]);
    }
  }
  return most < 1e6 ? static_cast<std::size_t>(std::ceil(most - kNothingMissing)) : 1'000'000;
}

double MachineCovers::cost_of(double price, std::size_t machines) const {
  const std::size_t more = machines > free_nodes_ ? machines - free_nodes_ : 0;
  return price + market_.node_cost * static_cast<double>(more);
}

std::vector<MachineCover> MachineCovers::between(double from, double below, std::size_t& work) {
  from_ = from;
  below_ = below;
  found_.clear();
  chosen_.clear();
  by_depth_.assign(1, missing_);
  descend(0, 0, work);
  std::sort(found_.begin(), found_.end());
  return std::move(found_);
}

void MachineCovers::descend(std::size_t first, double price, std::size_t& work) {
  const std::size_t depth = chosen_.size();
  if (by_depth_.size() < depth + 2) {
    by_depth_.emplace_back(missing_.size());
  }
  for (std::size_t c = first; c < columns_.size() && work > 0; ++c) {
    work -= std::min(work, missing_.size() / kDemandsPerLot + 1);
    const Column& column = columns_[c];
    if (cost_of(price + column.price, depth + 1) >= below_) {
      continue;
    }
    std::vector<double>& missing = by_depth_[depth + 1];
    for (std::size_t d = 0; d < missing.size(); ++d) {
      missing[d] = std::max(by_depth_[depth][d] - column.covers[d], 0.0);
    }
    const std::size_t needed = machines_needed(missing, c);
    const double spent = price + column.price;
    if (cost_of(spent + worth_of(missing), depth + 1 + needed) >= below_) {
      continue;
    }
    chosen_.push_back(column.machine);
    if (const double cost = cost_of(spent, depth + 1); needed == 0 && cost >= from_) {
      found_.push_back({cost, chosen_});
    }
    descend(c, spent, work);
    chosen_.pop_back();
  }
}

}  // namespace millwright::scheduling
