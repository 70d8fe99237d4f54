// An exact search for the cheapest plan, where it has few machines. First come the machines, then
// the pods:
//
//     sets of machines with enough room on the whole     12.38   12.40   12.41   12.45   12.50
//     a place for every pod on them?                       no     yes
//
// MachineCovers lists the sets, the cheapest first. The first one that holds the pods is the
// cheapest plan, if it is certain that those before it do not. Where machines are few and large,
// what a plan costs above the bound by the fraction is mostly due to the machines: they come in a
// few sizes, and it is the sum of a few of them that must come close to what the pods ask for.
#pragma once

#include "scheduling/search/exact/loaded_bins.hpp"
#include "scheduling/search/exact/loading_tree.hpp"
#include "scheduling/search/exact/machine_covers.hpp"
#include "scheduling/search/program/fill_search.hpp"

#include <cstddef>
#include <vector>

namespace millwright::scheduling {

class ExactSearch {
 public:
  struct Outcome {
    std::vector<Fill> fills;  // empty: it found nothing cheaper
    double cost = 0;          // of those, or of the plan that there was
    double at_least = 0;      // no plan costs less than this; `cost` where that is the least
  };

  // For all pods of the market's lots that are left.
  explicit ExactSearch(const FillSearch::Market& market)
      : market_(market), bins_(market_), tree_(bins_) {}
  ExactSearch(const ExactSearch&) = delete;
  ExactSearch& operator=(const ExactSearch&) = delete;

  // There is a plan with so many claims for `price`; only claims beyond those cost
  // Market::node_cost besides. Subtracts what it does from `work` and stops when nothing is left.
  Outcome run(double price, std::size_t claims, std::size_t& work);

 private:
  enum class Search { GoesOn, Ended };
  Search try_covers(const std::vector<MachineCover>& covers, Outcome& outcome, std::size_t& work);
  LoadingTree::Answer load_onto(const MachineCover& cover, std::size_t& work);

  const FillSearch::Market market_;
  LoadedBins bins_;
  LoadingTree tree_;
  bool certain_ = true;  // no plan costs less than the covers that are still to be tried
};

}  // namespace millwright::scheduling
