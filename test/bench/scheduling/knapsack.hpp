// The most valuable whole pods that fit into one machine: what column generation asks of each
// machine. Branch and bound.
//
// Two bounds tell what the pods not decided yet may add. The quick one lets a pod be cut. Where the
// search with it takes too long, a table has what whole pods may add, by kind of pod, CPU and
// memory that are left. Memory stands in it in cells, rounded in the pods' favour, and is bought at
// a price besides (Lagrange).
#pragma once

#include "bounded_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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
  // The best fill that was found, within half a thousandth of the best if `thorough`, or with a
  // bound that says by how much it may be missed; no pods if none is worth more than `least`.
  Fill best(double least, bool thorough);

 private:
  struct Item {
    std::size_t pod_class = 0;
    const Sizes* requests = nullptr;
    double value = 0;
    double size = 0;        // part of the room, by the weights
    std::size_t units = 0;  // of CPU
    std::size_t cells = 0;  // of memory, rounded down
    double gain = 0;        // value beyond the price of its memory
    std::int64_t limit = 0;
  };
  double fractional(std::size_t from, double room) const;
  void weigh(std::span<const double> weights);
  // For more than `least`; false when it was given up.
  bool search(double least);
  void descend(std::size_t item, Sizes& left, double room, double value);
  double may_add(std::size_t item, const Sizes& left, double room) const;
  Fill found() const;

  // For the table. False when there is no use in one.
  bool measure_cpu();
  void price_memory(double price);
  // With the memory of the machine sold and that of the pods bought.
  double filled_exactly() const;
  // The price of memory that leaves least to be hoped for; lowers at_most_.
  void find_memory_price();
  // Cells of memory for the table.
  void cut_memory();
  void make_table();
  // table: the most that some items may gain, by units of CPU and cells of memory.
  void take_in(const Item& item, std::span<double> table) const;

  const BoundedProblem& problem_;
  const Sizes& room_;
  std::vector<Item> items_;
  std::vector<double> weights_;
  double at_most_ = 0;

  std::size_t cpu_ = 0;
  std::size_t memory_ = 0;
  std::int64_t unit_ = 0;  // of CPU: all pods ask for multiples
  std::size_t units_ = 0;
  double memory_price_ = 0;
  std::int64_t cell_ = 0;  // of memory; none: it has its price alone
  std::size_t cells_ = 0;
  std::vector<double> table_;  // of the items from one on, by that one, units and cells

  std::vector<std::int64_t> chosen_;
  std::vector<std::int64_t> best_;
  double best_value_ = 0;
  std::size_t steps_ = 0;
  std::size_t max_steps_ = 0;
};

}  // namespace millwright::scheduling::bench
