// The pricing problem of column generation: which pods are worth most on one machine, at the dual
// prices that the master problem has for them? A knapsack of several resources.
#pragma once

#include "scheduling/search/filling/fill.hpp"
#include "scheduling/search/filling/sold_machines.hpp"
#include "scheduling/search/lots/pod_lots.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling {

class FillPricing {
 public:
  // `most`: how many of a lot's pods one machine may have. Keeps references to all three.
  FillPricing(const PodLots& lots, std::span<const SoldMachine> machines,
              const ById<LotId, std::size_t>& most)
      : lots_(lots), machines_(machines), most_(most), weights_(machines.size(), 0) {}

  // The most valuable fill of the machine that a short search finds; empty when none is worth more
  // than `least`. `values`: of a pod. Subtracts what it does from `work`.
  FillPods find(std::size_t machine, const ById<LotId, double>& values, double least,
                std::size_t& work);

 private:
  struct Item {
    LotId lot;
    double value = 0;
    double size = 0;        // the part of the machine that a pod takes, see weigh()
    double density = 0;     // value by size
    std::size_t limit = 0;  // pods that the machine may have
  };
  // Returns false when it is plain that no fill is worth more than `least`.
  bool list_items(const SoldMachine& machine, const ById<LotId, double>& values, double least,
                  std::size_t& weight);
  // Sets the sizes and densities of the items: resources are weighed against each other.
  void weigh(const SoldMachine& machine, std::size_t weight);
  void sort_items();
  // An upper bound on what pods of the items from this one on are worth in so much room.
  double at_most(std::size_t from, double room) const;
  // Takes pod by pod what is worth most for its size, measured against the room that is left. Where
  // one resource runs out before the other, pods that need much of it look large.
  void fill_greedily(std::size_t weight, std::size_t& work);
  std::size_t index_of(const Item& item) const {
    return static_cast<std::size_t>(&item - items_.data());
  }
  std::size_t room_for(const Item& item) const;
  void take(const Item& item, std::int64_t count);
  // Branch and bound over how many pods to take of the items from this one on.
  void descend(std::size_t item, double room, double value);

  const PodLots& lots_;
  std::span<const SoldMachine> machines_;
  const ById<LotId, std::size_t>& most_;
  std::vector<std::size_t> weights_;  // by machine: those that gave the lowest bound the last time
  std::pair<std::size_t, std::size_t> scarce_;  // the two resources that are asked for most
  std::vector<Item> items_;                     // most valuable for their size first
  Amounts left_;
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> best_;
  double best_value_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace millwright::scheduling
