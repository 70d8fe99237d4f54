// Fills of nodes that are there and of machines to buy, all at once: the linear program of
// fill_program.hpp with one more line per node, which is filled exactly once.
//
//                  fill of a node   nothing on it   fill to buy
//     price             p                p              0.40         p: whatever, it is paid anyway
//     lot a             3                ·               2      >=  17 pods
//     the node          1                1               ·       =   1
//
// Its dual prices say what a pod is worth when the rest of the pods are bought room for: those
// whose room is dear to buy go on nodes.
#pragma once

#include "scheduling/fill_choice.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace millwright::scheduling {

class NodeProgram {
 public:
  struct Wanted {
    FillPods pods;
    double share = 0;  // how much of the node it is wanted for
  };

  // `nodes` cost nothing. No pods of the lots may have rules about sharing nodes.
  NodeProgram(const PodLots& lots, std::span<const SoldMachine> market,
              std::span<const SoldMachine> nodes);

  // Fills to begin with: of a machine that is bought, and of one of the nodes.
  void know(Fill fill) { known_.push_back(std::move(fill)); }
  void know(std::size_t node, FillPods pods) { known_on_.emplace_back(node, std::move(pods)); }
  // False when there is too much to look at, or no machine for some pod.
  bool run(std::size_t& work);

  // By node, the fill that is wanted most.
  const std::vector<Wanted>& wanted() const { return wanted_; }
  // Of a pod, by lot.
  const std::vector<double>& values() const { return values_; }

 private:
  std::optional<double> price_alone(std::uint32_t lot) const;
  void add_on(FillProgram& program, std::size_t node, FillPods pods);
  std::size_t look_for_fills(FillProgram& program, BestFills& on_market, BestFills& on_nodes,
                             std::size_t& work);
  void note_wanted(const FillProgram& program);

  const PodLots& lots_;
  std::span<const SoldMachine> market_;
  std::span<const SoldMachine> nodes_;
  std::vector<Fill> known_;
  std::vector<std::pair<std::size_t, FillPods>> known_on_;
  std::vector<std::size_t> most_;    // by lot: its pods
  std::vector<double> node_prices_;  // by node: of any fill of it
  std::vector<double> values_;
  std::vector<Wanted> wanted_;
  std::size_t next_ = 0;  // of the market to be looked at
};

}  // namespace millwright::scheduling
