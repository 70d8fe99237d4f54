// Which machines to buy, before it is settled what goes on them: sets of machines that have enough
// room on the whole, cheapest first. A branch and bound over how many of each machine to buy.
//
//     256 CPUs ── 256 CPUs ── 64 CPUs                 12.40   enough
//                          └─ 32 CPUs ── 32 CPUs      12.41   enough
//                          └─ 32 CPUs ── 16 CPUs ...  12.50   more than the plan costs: cut
//
// Of each resource, the machines must have what all pods ask for. They must also have what those
// pods ask for that only some of the machines admit or are large enough for. So a plan that costs
// less than every such set does not exist. But not every set holds the pods: they are not liquid.
//
// The bound is linear programming duality: no machine's room is worth more than its price at the
// dual prices of "buy machines by the fraction", so what is still missing costs at least what it is
// worth.
#pragma once

#include "scheduling/search/program/fill_search.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millwright::scheduling {

// Machines, as places in FillSearch::Market::machines, the dearest first.
struct MachineCover {
  double cost = 0;  // with the cost of nodes
  std::vector<std::size_t> machines;
  auto operator<=>(const MachineCover&) const = default;
};

class MachineCovers {
 public:
  // For all pods of the market's lots that are left. Only nodes beyond `free_nodes` have a cost
  // beside their price. Subtracts what it does from `work`; without enough of that the bound is
  // lower than it could be. Keeps a reference to the market.
  MachineCovers(const FillSearch::Market& market, std::size_t free_nodes, std::size_t& work);

  // No plan costs less.
  double at_least() const { return worth_of(missing_); }
  // All covers that cost at least `from` and less than `below`, the cheapest first. Subtracts what
  // it does from `work`; when nothing is left of that, there may be others.
  std::vector<MachineCover> between(double from, double below, std::size_t& work);

 private:
  // A machine with the part of each demand that it covers.
  struct Column {
    std::size_t machine = 0;
    double price = 0;
    std::vector<double> covers;
  };
  void list_demands();
  // What the lots ask for, which only these columns have.
  void add_demands(const std::vector<LotId>& tied, const std::vector<bool>& machines);
  void find_most();
  void find_worths(std::size_t& work);
  double worth_of(const std::vector<double>& missing) const;
  // The least number of machines from this column on that have so much.
  std::size_t machines_needed(const std::vector<double>& missing, std::size_t column) const;
  double cost_of(double price, std::size_t machines) const;
  void descend(std::size_t first, double price, std::size_t& work);

  const FillSearch::Market& market_;
  std::size_t free_nodes_;
  std::vector<Column> columns_;                // the dearest first
  std::vector<double> missing_;                // by demand: 1, less what the branch has
  std::vector<double> worths_;                 // by demand: dual prices
  std::vector<std::vector<double>> most_;      // by column and demand: the most of those from it on
  std::vector<std::vector<double>> by_depth_;  // what is missing at each depth of the branch
  std::vector<std::size_t> chosen_;
  double from_ = 0;
  double below_ = 0;
  std::vector<MachineCover> found_;
};

}  // namespace millwright::scheduling
