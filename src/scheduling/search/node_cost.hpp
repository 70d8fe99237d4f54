// What more nodes must save: a node costs what no price list shows. It is one more to boot, to
// drain and to watch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace millwright::scheduling {

// The price of so many claims in place of those before, with what more nodes cost: twice as many
// must save a part of the price, and every further doubling some more.
inline double with_node_cost(double price, std::size_t claims, std::size_t before) {
  constexpr double kNodeCost = 0.03;
  constexpr double kFurtherCost = 0.01;
  const double times = static_cast<double>(claims) / static_cast<double>(before);
  return price * (1 + kNodeCost * std::clamp(times - 1, 0.0, 1.0) +
                  kFurtherCost * std::log2(std::max(times / 2, 1.0)));
}

}  // namespace millwright::scheduling
