// What a unit of each resource is worth on a market: the dual prices of the linear program "cover
// the demand with fractions of machines at the least cost". At these prices no machine's room is
// worth more than the machine costs. A machine that costs little more than that is a good buy.
#pragma once

#include "scheduling/values/amounts.hpp"

#include <span>
#include <vector>

namespace millwright::scheduling {

struct Machine {
  const Amounts* room = nullptr;
  double price = 0;
};

// By column. Zero for resources that nobody demands or no machine has.
std::vector<double> resource_prices(std::span<const Machine> machines, const Amounts& demand);

// Raises prices so that the demand for each resource is worth at least this part of the whole
// demand: what is plenty on the whole may still run out on one machine.
std::vector<double> with_floor(std::vector<double> prices, const Amounts& demand, double floor);

// What the amounts come to at the prices.
double worth(const Amounts& amounts, std::span<const double> prices);

}  // namespace millwright::scheduling
