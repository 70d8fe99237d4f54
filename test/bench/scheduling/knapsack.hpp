// The most valuable whole pods that fit into one machine: what column generation asks of each
// machine. Branch and bound.
#pragma once

#include "bounded_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millwright::scheduling::bench {

struct Fill {
  std::vector<std::pair<std::size_t, std::int64_t>> pods;  // class, how many
  double value = 0;
  double at_most = 0;  // no fill is worth more
};

class Knapsack {
 public:
  // `values`: of a pod, by class.
  Knapsack(const BoundedProblem& problem, const BoundedMachine& machine,
           std::span<const double> values);

  // By letting pods be cut: quick.
  double at_most() const { return at_most_; }
  // Within a thousandth of the best, or with a bound that says by how much it may be missed. With
  // `thorough` that bound has whole pods as far as CPU is concerned.
  Fill best(bool thorough);

 private:
  struct Item {
    std::size_t pod_class = 0;
    const Sizes* requests = nullptr;
    double value = 0;
    double size = 0;  // part of the room, by the weights
    std::int64_t limit = 0;
  };
  double fractional(std::size_t from, double room) const;
  // By letting memory be bought at a price, and CPU be filled exactly.
  double at_most_by_cpu() const;
  double filled_exactly(std::size_t cpu, std::size_t memory, double memory_price) const;
  void weigh(std::span<const double> weights);
  void descend(std::size_t item, Sizes& left, double room, double value);

  const BoundedProblem& problem_;
  const Sizes& room_;
  std::vector<Item> items_;
  std::vector<double> weights_;
  double at_most_ = 0;
  std::vector<std::int64_t> chosen_;
  std::vector<std::int64_t> best_;
  double best_value_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace millwright::scheduling::bench
