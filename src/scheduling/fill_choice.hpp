// Chooses fills of machines for all pods of the lots at once: a linear program over the fills that
// are known, and a search for others that its prices make worth while, in turns.
#pragma once

#include "scheduling/best_fills.hpp"
#include "scheduling/fill_program.hpp"
#include "scheduling/pod_lots.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace millwright::scheduling {

// A machine and what to put on it.
struct Fill {
  std::size_t row = 0;
  double price = 0;
  FillPods pods;
  auto operator<=>(const Fill&) const = default;
};

class FillChoice {
 public:
  // For the pods that are left.
  FillChoice(const PodLots& lots, std::span<const SoldMachine> machines)
      : lots_(lots), machines_(machines) {}

  // `known`: fills to begin with; those that are still worth knowing afterwards. `patience`: rounds
  // in which too little may be saved; with none, no fills are looked for. False when there is no
  // machine for some pod.
  bool run(std::set<Fill>& known, int patience, std::size_t& work);

  const std::vector<Fill>& fills() const { return fills_; }
  // How often to buy each.
  const std::vector<double>& shares() const { return shares_; }
  double price() const { return price_; }

 private:
  bool list_lots();
  const SoldMachine* cheapest_for(std::uint32_t lot) const;
  void add(FillProgram& program, Fill fill);
  // The fill as far as there are pods for it, on the smallest machine that will do.
  std::optional<Fill> cut(const Fill& fill) const;
  // Fills that save something, of one machine after the other; how many were found.
  std::size_t look_for_fills(FillProgram& program, BestFills& finder, std::size_t& work);
  void forget(const FillProgram& program, std::set<Fill>& known) const;

  const PodLots& lots_;
  std::span<const SoldMachine> machines_;
  std::vector<std::size_t> most_;      // by lot: how many of it one machine may have
  std::vector<std::uint32_t> row_of_;  // by lot
  std::vector<std::uint32_t> rows_;    // lots by row of the program
  std::vector<std::size_t> demand_;    // by row
  std::vector<double> alone_;          // by row
  std::vector<double> values_;         // by lot
  std::size_t next_ = 0;               // machine to be looked at
  std::vector<Fill> fills_;
  std::vector<double> shares_;
  double price_ = 0;
};

}  // namespace millwright::scheduling
