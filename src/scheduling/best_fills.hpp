// The machines on sale as the search for cheaper claims sees them, and the most valuable pods for
// one of them.
#pragma once

#include "scheduling/claim_shapes.hpp"
#include "scheduling/fill_program.hpp"
#include "scheduling/pod_lots.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// An instance type as it is sold in one place. Of those that differ in price only, the cheapest.
struct SoldMachine {
  std::size_t row = 0;
  double price = 0;
  const Amounts* room = nullptr;
  std::vector<std::uint32_t> users;  // lots that it admits and has room for
};

// What may be of use to the lots. None that is dearer than another of the same use.
std::vector<SoldMachine> machines_for(const PodLots& lots, const PoolTemplate& pool,
                                      const ClaimShapes& shapes);

class BestFills {
 public:
  // `most`: by lot, how many of it a machine may have.
  BestFills(const PodLots& lots, std::span<const SoldMachine> machines,
            const std::vector<std::size_t>& most)
      : lots_(lots), machines_(machines), most_(most), weights_(machines.size(), 0) {}

  // A fill of the machine worth more than `least`, the best that a short search finds; empty when
  // it finds none. `values`: of a pod, by lot. Takes its part of `work`.
  FillPods find(std::size_t machine, const std::vector<double>& values, double least,
                std::size_t& work);

 private:
  struct Item {
    std::uint32_t lot = 0;
    double value = 0;
    double size = 0;     // part of the room, by the weights of resources
    double density = 0;  // value by size
    std::size_t limit = 0;
  };
  // False when it is plain that nothing is worth more than `least`.
  bool list_items(const SoldMachine& machine, const std::vector<double>& values, double least,
                  std::size_t& weight);
  void weigh(const SoldMachine& machine, std::size_t weight);
  void sort_items();
  // What the items from this one on are worth at most in so much room.
  double at_most(std::size_t from, double room) const;
  // Pod by pod, what is worth most for the room that it takes of what is left: where one resource
  // runs out before the other, those who need much of it look large.
  void fill_to_the_corner(std::size_t weight, std::size_t& work);
  std::size_t index_of(const Item& item) const {
    return static_cast<std::size_t>(&item - items_.data());
  }
  std::size_t room_for(const Item& item) const;
  void take(const Item& item, std::int64_t count);
  void descend(std::size_t item, double room, double value);

  const PodLots& lots_;
  std::span<const SoldMachine> machines_;
  const std::vector<std::size_t>& most_;
  std::vector<std::size_t> weights_;            // by machine: those that told most the last time
  std::pair<std::size_t, std::size_t> scarce_;  // the resources asked for most
  std::vector<Item> items_;                     // most valuable for their size first
  Amounts left_;
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> best_;
  double best_value_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace millwright::scheduling
