// Linear programs to try the simplex method with: made up, or recorded from column generation.
#pragma once

#include "scheduling/search/program/column_generation.hpp"
#include "scheduling/search/program/simplex.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace millwright::scheduling::testing {

constexpr std::size_t kUnlimitedWork = 1'000'000'000;

struct Column {
  double cost = 0;
  std::vector<Simplex::Entry> entries;
};

struct LinearProgram {
  Simplex::Rows rows;
  std::vector<Column> columns;  // beside those of Rows::unit_costs, in the order of their coming

  Simplex simplex() const {
    Simplex simplex(rows);
    for (const Column& column : columns) {
      simplex.add(column.cost, column.entries);
    }
    return simplex;
  }
  Column unit_column(std::size_t row) const {
    return {rows.unit_costs[row], {{static_cast<std::uint32_t>(row), 1}}};
  }
};

inline Simplex solved(Simplex simplex) {
  std::size_t work = kUnlimitedWork;
  simplex.solve(work);
  return simplex;
}

inline double worth_of(const Column& column, const Simplex& simplex) {
  double worth = 0;
  for (const auto& [row, amount] : column.entries) {
    worth += simplex.dual_price(row) * amount;
  }
  return worth;
}

// The master problem of a generation over lots that all have pods, with its columns as they came.
inline LinearProgram recorded(const ColumnGeneration& generation, const ById<LotId, Lot>& lots,
                              std::size_t nodes) {
  LinearProgram program;
  program.rows.exact = nodes;
  for (const Lot& lot : lots) {
    program.rows.demand.push_back(static_cast<double>(lot.left));
  }
  program.rows.demand.resize(lots.size() + nodes, 1);
  for (std::size_t row = 0; row < program.rows.demand.size(); ++row) {
    program.rows.unit_costs.push_back(generation.fills()[row].price);
  }
  for (std::size_t i = program.rows.demand.size(); i < generation.fills().size(); ++i) {
    const Fill& fill = generation.fills()[i];
    Column column{fill.price, {}};
    for (const auto& [lot, count] : fill.pods) {
      column.entries.push_back({lot.index(), static_cast<double>(count)});
    }
    if (fill.node) {
      column.entries.push_back({static_cast<std::uint32_t>(lots.size() + *fill.node), 1});
    }
    program.columns.push_back(std::move(column));
  }
  return program;
}

}  // namespace millwright::scheduling::testing
