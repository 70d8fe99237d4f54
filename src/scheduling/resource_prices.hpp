// What a unit of each resource is worth, given what machines cost: the dual prices of "cover this
// demand with fractions of machines at least cost". A machine is a good buy when it costs little
// more than what its room is worth at these prices.
#pragma once

#include "scheduling/amounts.hpp"

#include <span>
#include <vector>

namespace millwright::scheduling {

struct Machine {
  const Amounts* room = nullptr;
  double price = 0;
};

// By column; zero for what nobody demands or no machine has.
std::vector<double> resource_prices(std::span<const Machine> machines, const Amounts& demand);

// The same, but the whole demand for each resource is worth at least this part of everything: what
// is plenty on the whole may still run out on one machine.
std::vector<double> with_floor(std::vector<double> prices, const Amounts& demand, double floor);

// The amounts at those prices.
double worth(const Amounts& amounts, std::span<const double> prices);

}  // namespace millwright::scheduling
