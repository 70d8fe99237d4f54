// A market for the pods of a small world, as the searches for cheaper fills see it.
#pragma once

#include "search_world.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace millwright::scheduling::testing {

// With a bad plan for the pods: a machine for each.
class SmallMarket {
 public:
  SmallMarket(const std::vector<MachineOf>& machines, const std::vector<LotOf>& lots)
      : world_(world_of(machines, lots)), machines_(world_.machines()) {
    for (const Lot& lot : world_.all()) {
      values_.push_back(lot.least);
      most_.push_back(lot.left);
    }
  }

  FillSearch::Market of(double node_cost) {
    return {world_.lots(), machines_, values_, most_, node_cost};
  }

  const ById<LotId, Lot>& lots() const { return world_.all(); }
  const std::vector<SoldMachine>& machines() const { return machines_; }

  const ById<LotId, std::size_t>& most() const { return most_; }
  // So many pods of a lot may share a machine.
  void keep_apart(std::size_t most) {
    for (std::size_t& limit : most_) {
      limit = std::min(limit, most);
    }
  }

  std::vector<Fill> one_pod_each() const {
    std::vector<Fill> fills;
    for (LotId lot; lot < world_.all().end_id(); ++lot) {
      const auto cheapest = std::min_element(
          machines_.begin(), machines_.end(),
          [&](const auto& a, const auto& b) { return price_for(a, lot) < price_for(b, lot); });
      fills.insert(fills.end(), world_.all()[lot].left,
                   {cheapest->row, cheapest->price, {{lot, 1}}});
    }
    return fills;
  }

  FillPods all_pods() const {
    FillPods pods;
    for (LotId lot; lot < world_.all().end_id(); ++lot) {
      pods.emplace_back(lot, static_cast<std::uint32_t>(world_.all()[lot].left));
    }
    return pods;
  }

  bool holds_its_pods(const Fill& fill) const {
    return std::any_of(machines_.begin(), machines_.end(), [&](const SoldMachine& machine) {
      return machine.row == fill.row && machine.price == fill.price &&
             fits(requests_of(fill.pods, world_.all(), machine.room->size()), *machine.room);
    });
  }

 private:
  static double price_for(const SoldMachine& machine, LotId lot) {
    return std::binary_search(machine.users.begin(), machine.users.end(), lot)
               ? machine.price
               : std::numeric_limits<double>::infinity();
  }

  SearchWorld world_;
  std::vector<SoldMachine> machines_;
  ById<LotId, double> values_;
  ById<LotId, std::size_t> most_;
};

inline std::map<LotId, std::uint32_t> pods_of_all(const std::vector<Fill>& fills) {
  std::map<LotId, std::uint32_t> pods;
  for (const Fill& fill : fills) {
    for (const auto& [lot, count] : fill.pods) {
      pods[lot] += count;
    }
  }
  return pods;
}

inline double price_of_all(const std::vector<Fill>& fills) {
  double price = 0;
  for (const Fill& fill : fills) {
    price += fill.price;
  }
  return price;
}

}  // namespace millwright::scheduling::testing
