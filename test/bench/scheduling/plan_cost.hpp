// What our plans cost beside what no plan can beat. Karpenter's side is in beside_peer.hpp; this is
// for work on the search, which needs the figures often and Karpenter's never anew.
#pragma once

#include "millwright/base/result.hpp"

#include <string>
#include <vector>

namespace millwright::scheduling::bench {

struct PlanCostOptions {
  std::string only;                // catalog/mix or a part of that; empty: all
  std::vector<int> pods = {1000};  // how many of them
  bool whole_pods = false;         // the better bound too, which takes up to minutes a row
  double max_price_ratio = 0;      // PoolOption's
};

// Prints a table as it grows. An error when no workload has such a name.
base::Result<void> plan_cost(const PlanCostOptions& options);

}  // namespace millwright::scheduling::bench
