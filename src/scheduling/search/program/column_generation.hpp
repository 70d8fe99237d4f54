// Column generation (Gilmore and Gomory): chooses fills for all pods at once, without listing every
// fill there is. The master problem, a linear program, chooses among the fills found so far. Its
// dual prices say what a pod of each lot is worth. Pricing looks for fills worth more than their
// machine costs; each becomes a new column of the master problem.
//
//     dual prices of pods ──▶ pricing: a fill worth more than its machine? ──▶ new columns ─┐
//         ▲                          │ none: done                                           │
//         └──────────────────── solve the master problem ◀──────────────────────────────────┘
//
// The master problem may buy fills by the fraction. It has one row for each lot, to be covered by
// at least its pods, and one for each existing node, to be filled exactly once:
//
//                  fill to buy    fill of node n    nothing on n
//     price           0.40              p                p
//     lot a             2               3                ·         >=  17 pods
//     node n            ·               1                1          =   1
//
// A node costs p whatever is put on it, so p may be any price.
#pragma once

#include "scheduling/search/filling/fill.hpp"
#include "scheduling/search/filling/sold_machines.hpp"
#include "scheduling/search/lots/pod_lots.hpp"
#include "scheduling/search/program/fill_pricing.hpp"
#include "scheduling/search/program/simplex.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace millwright::scheduling {

// Rounds that must together save something, or there are no more rounds.
constexpr int kPatience = 8;

class ColumnGeneration {
 public:
  // For the pods that are left. With `nodes`, no lot may be exclusive.
  ColumnGeneration(const PodLots& lots, std::span<const SoldMachine> machines,
                   std::span<const SoldMachine> nodes = {});

  // Adds a column to begin with. All its pods must be left. The price counts for machines only.
  void begin_with(Fill fill) { start_.push_back(std::move(fill)); }
  // Adds fills of an earlier generation, cut down to the pods that are left.
  void begin_with_known(const std::set<Fill>& known);
  // Solves the master problem. `patience`: see kPatience; zero means that no columns are generated.
  // Returns false when no machine on sale takes some pod. Subtracts what it does from `work` and
  // stops when nothing is left of that.
  bool run(int patience, std::size_t& work);

  // The columns, and how often the optimum buys each.
  const std::vector<Fill>& fills() const { return fills_; }
  const std::vector<double>& amounts() const { return amounts_; }
  // The price of the optimum; that of nodes is part of it.
  double price() const { return price_; }
  // What a pod is worth at the optimum.
  const ById<LotId, double>& dual_prices() const { return dual_prices_; }
  // The fills whose reduced cost is small: worth beginning with next time.
  std::set<Fill> worth_keeping() const;

 private:
  bool list_lots();
  void list_nodes();
  const SoldMachine* cheapest_for(LotId lot) const;
  // The fill without pods that are gone, on the cheapest machine that holds the rest.
  std::optional<Fill> cut(const Fill& fill) const;
  void add(Simplex& master, Fill fill);
  void read_dual_prices(const Simplex& master);
  // Both add columns that lower the price, and return how many.
  std::size_t price_nodes(Simplex& master, FillPricing& pricing, std::size_t& work);
  std::size_t price_machines(Simplex& master, FillPricing& pricing, std::size_t& work);
  std::size_t row_of_node(std::size_t node) const { return rows_.size() + node; }

  const PodLots& lots_;
  std::span<const SoldMachine> machines_;
  std::span<const SoldMachine> nodes_;
  ById<LotId, std::size_t> most_;      // how many of its pods one machine may have
  ById<LotId, std::uint32_t> row_of_;  // in the master problem
  std::vector<LotId> rows_;            // by row of the master problem; nodes come after those
  std::vector<double> demand_;         // by row
  std::vector<double> alone_;  // by row: price of a machine for one pod, or of an empty node
  std::vector<Fill> start_;
  std::size_t next_ = 0;  // machine to be priced
  std::vector<Fill> fills_;
  std::vector<double> amounts_;
  ById<LotId, double> dual_prices_;
  double price_ = 0;
  bool feasible_ = false;
};

}  // namespace millwright::scheduling
