// The cheapest way to hold a few pods that a bounded search finds: branch and bound over which
// machine to buy next. A machine is filled with the pods that are worth most on it; what it costs
// more than those are worth is lost, and a branch ends where more is lost than there is to win.
//
//     pods of two claims ── machine a, filled ── machine c for all the rest     0.61
//                        └─ machine b, filled ── machine d for all the rest     0.58  <
//
// The machine that costs least for what its pods are worth comes first. Taking another one is a
// discrepancy, and a branch has few of them (limited discrepancy search, Harvey and Ginsberg): the
// first choice is seldom wrong often.
#pragma once

#include "scheduling/search/filling/fill.hpp"
#include "scheduling/search/filling/sold_machines.hpp"
#include "scheduling/search/lots/pod_lots.hpp"
#include "scheduling/search/program/fill_pricing.hpp"

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace millwright::scheduling {

class FillSearch {
 public:
  // What does not change from one search to the next; referred to.
  struct Market {
    const PodLots& lots;
    std::span<const SoldMachine> machines;
    const ById<LotId, double>& values;     // of a pod
    const ById<LotId, std::size_t>& most;  // of a lot's pods on one machine
    double node_cost = 0;                  // of a machine beside its price
  };
  struct Limits {
    int discrepancies = 1;
    std::size_t steps = 64;  // branches
  };

  FillSearch(const Market& market, const FillPods& pods);
  FillSearch(const FillSearch&) = delete;
  FillSearch& operator=(const FillSearch&) = delete;

  // Fills that hold exactly the pods and cost less than `most`, with the cost of nodes; empty when
  // none were found. Subtracts what it does from `work` and stops when nothing is left.
  std::vector<Fill> run(double most, Limits limits, std::size_t& work);

 private:
  struct Choice {
    double ratio = 0;  // cost over what the pods are worth
    std::size_t machine = 0;
    FillPods pods;
  };

  std::vector<SoldMachine> machines_for_these() const;
  void descend(double spent, int discrepancies, std::size_t& work);
  // The least that the pods that are left cost.
  double at_least() const;
  // Ends the branch with the cheapest machine that holds all that is left.
  void finish(double spent, std::size_t& work);
  bool holds_all(const SoldMachine& machine) const;
  std::vector<Choice> choices(double slack, std::size_t count, std::size_t& work);
  void move(const FillPods& pods, bool back);

  const Market& market_;
  std::vector<LotId> lots_;            // of these pods
  std::vector<SoldMachine> machines_;  // with those lots only, the cheapest first
  ById<LotId, std::size_t> left_;
  ById<LotId, std::size_t> limit_;  // of what is left, on one machine
  Amounts requests_;                // of the pods that are left
  double value_left_ = 0;
  std::size_t pods_left_ = 0;
  double dearest_ = 0;       // price of a machine
  std::vector<Fill> fills_;  // of the branch
  std::vector<Fill> best_;
  double least_ = std::numeric_limits<double>::infinity();
  std::size_t steps_ = 0;
  FillPricing pricing_;
};

}  // namespace millwright::scheduling
