#include "scheduling/search/program/resource_prices.hpp"

#include "scheduling/search/program/simplex.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace millwright::scheduling {
namespace {

// A resource that somebody demands and some machine has.
struct Resource {
  std::size_t column = 0;
  double unit = 0;       // the most that a machine has: keeps numbers of one order of magnitude
  double unit_cost = 0;  // on the machine where it is cheapest, as if that had nothing else
};

std::vector<Resource> list_resources(std::span<const Machine> machines, const Amounts& demand) {
  std::vector<Resource> resources;
  for (std::size_t column = 0; column < demand.size(); ++column) {
    double most = 0;
    double cost = std::numeric_limits<double>::infinity();
    for (const Machine& machine : machines) {
      if (const auto room = static_cast<double>((*machine.room)[column]); room > 0) {
        most = std::max(most, room);
        cost = std::min(cost, machine.price / room);
      }
    }
    if (demand[column] > 0 && most > 0) {
      resources.push_back({column, most, cost * most});
    }
  }
  return resources;
}

}  // namespace

std::vector<double> resource_prices(std::span<const Machine> machines, const Amounts& demand) {
  const std::vector<Resource> resources = list_resources(machines, demand);
  Simplex::Rows rows;
  for (const Resource& resource : resources) {
    rows.demand.push_back(static_cast<double>(demand[resource.column]) / resource.unit);
    rows.unit_costs.push_back(resource.unit_cost);
  }
  Simplex program(std::move(rows));
  std::vector<Simplex::Entry> entries;
  for (const Machine& machine : machines) {
    entries.clear();
    for (std::uint32_t row = 0; row < resources.size(); ++row) {
      const auto room = static_cast<double>((*machine.room)[resources[row].column]);
      entries.push_back({row, std::max(room, 0.0) / resources[row].unit});
    }
    program.add(machine.price, entries);
  }
  std::size_t work = std::numeric_limits<std::size_t>::max();
  program.solve(work);
  std::vector<double> prices(demand.size(), 0);
  for (std::size_t row = 0; row < resources.size(); ++row) {
    prices[resources[row].column] = std::max(program.dual_price(row), 0.0) / resources[row].unit;
  }
  return prices;
}

std::vector<double> with_floor(std::vector<double> prices, const Amounts& demand, double floor) {
  const double total = worth(demand, prices);
  for (std::size_t c = 0; c < prices.size(); ++c) {
    if (demand[c] > 0) {
      prices[c] = std::max(prices[c], floor * total / static_cast<double>(demand[c]));
    }
  }
  return prices;
}

double worth(const Amounts& amounts, std::span<const double> prices) {
  double total = 0;
  for (std::size_t c = 0; c < amounts.size(); ++c) {
    total += static_cast<double>(amounts[c]) * prices[c];
  }
  return total;
}

}  // namespace millwright::scheduling
