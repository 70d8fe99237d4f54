// Plans all claims at once: column generation chooses fills by the fraction, and a dive turns them
// into whole claims. It buys the fills that the optimum buys as a whole, else the one that it buys
// most of, and solves again for the pods that are left.
#pragma once

#include "scheduling/search/filling/greedy_packing.hpp"
#include "scheduling/search/filling/sold_machines.hpp"
#include "scheduling/search/program/column_generation.hpp"

#include <cstddef>
#include <set>
#include <span>
#include <vector>

namespace millwright::scheduling {

// A dive that would save less than this part of the price is not worth the trouble.
constexpr double kWorthADive = 0.003;

class Diving {
 public:
  // `greedy` has packed these lots; its claims are the columns to begin with.
  Diving(const PoolSearch& search, GreedyPacking& greedy)
      : search_(search), greedy_(greedy), fills_(greedy.fills()) {}

  // The linear programs that so many lots are dealt out to.
  static std::size_t programs(std::size_t lots);

  // Adds claims for all pods that are left to those in `result`. Returns false when they would not
  // come to less than `most` together.
  bool plan(PodLots& lots, double most, std::vector<ClaimDraft>& result);

 private:
  // For lots that are too many for one linear program: each part keeps what is cheaper, its claims
  // packed one by one or all at once.
  bool plan_part(const PodLots& part, bool first, std::vector<ClaimDraft>& result);
  bool dive(PodLots& lots, double most, std::vector<ClaimDraft>& result);
  bool buy(PodLots& lots, const ColumnGeneration& generation, std::vector<ClaimDraft>& result);

  PoolSearch search_;
  GreedyPacking& greedy_;
  std::set<Fill> fills_;  // columns to begin with
  std::vector<SoldMachine> machines_;
};

}  // namespace millwright::scheduling
