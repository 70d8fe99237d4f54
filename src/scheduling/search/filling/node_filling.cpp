#include "scheduling/search/filling/node_filling.hpp"

#include "scheduling/search/filling/sold_machines.hpp"
#include "scheduling/search/lots/pod_lots.hpp"
#include "scheduling/search/program/column_generation.hpp"
#include "scheduling/search/program/fill_pricing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

namespace millwright::scheduling {
namespace {

// Nodes and pods that are looked at; with more of them, nothing is done.
constexpr std::size_t kMaxNodes = 1'000;
constexpr std::size_t kMaxFillingPods = 20'000;
// Lots and nodes in one linear program: solving it takes the square of that.
constexpr std::size_t kMaxRows = 320;
constexpr std::size_t kFillingWork = 4'000'000;

class NodeFilling {
 public:
  NodeFilling(const CompiledProblem& compiled, Packing& packing)
      : pods_(compiled.pods),
        nodes_(compiled.nodes),
        packing_(packing),
        pools_(compiled.pools),
        lots_(compiled.pods, compiled.topology, packing.drafts()),
        movable_(compiled.pods.pods.size(), false) {
    for (const ExistingNode& node : nodes_.nodes()) {
      room_.push_back(node.room);
    }
  }

  std::vector<std::pair<PodId, NodeId>> run(NodeValues by) {
    find_movable();
    if (!take_lots()) {
      return {};
    }
    list_nodes();
    lots_of_pods();
    if (by == NodeValues::AsPaid) {
      fill_up(what_they_pay());
      return std::move(result_);
    }
    if (lots_.lots().size() + machines_.size() > kMaxRows) {
      return {};
    }
    const auto market = machines_for(lots_, pools_[packing_.drafts().claims().front().pool],
                                     packing_.drafts().shapes());
    ColumnGeneration generation(lots_, market, machines_);
    begin_with_plan(generation);
    std::size_t work = kFillingWork;
    if (generation.run(kPatience, work)) {
      place_wanted(wanted(generation));
      fill_up(generation.dual_prices());
    }
    return std::move(result_);
  }

 private:
  // Pods that may be moved. What the others need on nodes is taken from the room.
  void find_movable() {
    ById<PodId, bool> promised(pods_.pods.size(), false);
    for (const auto& [pod, node] : nodes_.promises()) {
      promised[pod] = true;
    }
    for (PodId pod; pod < pods_.pods.end_id(); ++pod) {
      const PodClass& pod_class = pods_.classes[pods_.pods[pod].pod_class];
      const Constraint& constraint = pods_.constraints[pod_class.constraint];
      const PodPlace place = packing_.places()[pod];
      movable_[pod] = place.kind != PodPlace::Kind::None && !promised[pod] &&
                      constraint.ladder.size() == 1 && !constraint.has_topology();
      if (!movable_[pod] && place.kind == PodPlace::Kind::Node) {
        subtract_from(room_[place.node()], pod_class.requests);
      }
    }
  }

  bool take_lots() {
    // PodLots takes claims: here is one with all of them.
    ClaimDraft all{.pool = packing_.drafts().claims().front().pool};
    for (PodId pod; pod < movable_.end_id(); ++pod) {
      if (movable_[pod]) {
        all.pods.push_back(pod);
        all.rungs.push_back(0);
      }
    }
    if (all.pods.empty() || !lots_.take(all)) {
      return false;
    }
    lots_.sort(pools_);
    return lots_.lots().size() > 1;
  }

  void lots_of_pods() {
    lot_of_.assign(pods_.pods.size(), LotId::none());
    for (LotId lot; lot < lots_.lots().end_id(); ++lot) {
      for (const std::uint32_t item : lots_.lots()[lot].items) {
        for (const PodId pod : lots_.items()[item].pods) {
          lot_of_[pod] = lot;
        }
      }
    }
  }

  // Adds the plan that there is.
  void begin_with_plan(ColumnGeneration& generation) const {
    const ClaimDrafts& drafts = packing_.drafts();
    for (const ClaimDraft& claim : drafts.claims()) {
      const auto cheapest = cheapest_row(pools_[claim.pool], drafts.shapes()[claim.shape], claim);
      FillPods pods = in_lots(claim.pods);
      if (cheapest && !pods.empty()) {
        generation.begin_with({cheapest->row, cheapest->price, std::move(pods)});
      }
    }
    ById<NodeId, std::vector<PodId>> on_node(room_.size());
    for (PodId pod; pod < pods_.pods.end_id(); ++pod) {
      if (packing_.places()[pod].kind == PodPlace::Kind::Node) {
        on_node[packing_.places()[pod].node()].push_back(pod);
      }
    }
    for (std::size_t machine = 0; machine < machines_.size(); ++machine) {
      if (FillPods pods = in_lots(on_node[node_of_[machine]]); !pods.empty()) {
        generation.begin_with({.pods = std::move(pods), .node = machine});
      }
    }
  }

  FillPods in_lots(std::span<const PodId> pods) const {
    std::map<LotId, std::uint32_t> counts;
    for (const PodId pod : pods) {
      if (lot_of_[pod] != LotId::none()) {
        ++counts[lot_of_[pod]];
      }
    }
    return {counts.begin(), counts.end()};
  }

  struct Wanted {
    FillPods pods;
    double share = 0;  // of the node, that the optimum fills with them
  };

  // By node, the fill with the largest share.
  std::vector<Wanted> wanted(const ColumnGeneration& generation) const {
    std::vector<Wanted> result(machines_.size());
    for (std::size_t i = 0; i < generation.fills().size(); ++i) {
      const Fill& fill = generation.fills()[i];
      const double share = generation.amounts()[i];
      if (fill.node && share > result[*fill.node].share) {
        result[*fill.node] = {fill.pods, share};
      }
    }
    return result;
  }

  // Fills that the optimum uses as a whole come first.
  void place_wanted(const std::vector<Wanted>& wanted) {
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return wanted[a].share > wanted[b].share;
    });
    for (const std::size_t node : order) {
      for (const auto& [lot, count] : wanted[node].pods) {
        for (std::uint32_t i = 0; i < count; ++i) {
          put(lots_.lots()[lot], node);
        }
      }
    }
  }

  // Fills what room is left with the pods that are worth most.
  void fill_up(const ById<LotId, double>& values) {
    ById<LotId, std::size_t> most;
    for (const Lot& lot : lots_.lots()) {
      most.push_back(lot.left);
    }
    FillPricing pricing(lots_, machines_, most);
    std::size_t work = kFillingWork;
    for (const std::size_t node : hardest_first()) {
      for (const auto& [lot, count] : pricing.find(node, values, 0, work)) {
        for (std::uint32_t i = 0; i < count; ++i) {
          put(lots_.lots()[lot], node);
        }
        most[lot] = lots_.lots()[lot].left;
      }
    }
  }

  // What one pod pays on the claims that the lot's pods are on.
  ById<LotId, double> what_they_pay() const {
    ById<LotId, double> ratios(lots_.lots().size(), 0);
    ById<LotId, double> pods(lots_.lots().size(), 0);
    const ClaimDrafts& drafts = packing_.drafts();
    for (const ClaimDraft& claim : drafts.claims()) {
      const auto cheapest = cheapest_row(pools_[claim.pool], drafts.shapes()[claim.shape], claim);
      double worth = 0;
      for (const PodId pod : claim.pods) {
        worth += lot_of_[pod] == LotId::none() ? 0 : lots_.lots()[lot_of_[pod]].least;
      }
      for (const PodId pod : claim.pods) {
        if (lot_of_[pod] != LotId::none() && cheapest && worth > 0) {
          ratios[lot_of_[pod]] += cheapest->price / worth;
          pods[lot_of_[pod]] += 1;
        }
      }
    }
    ById<LotId, double> result;
    for (LotId lot; lot < pods.end_id(); ++lot) {
      result.push_back(lots_.lots()[lot].least * (pods[lot] > 0 ? ratios[lot] / pods[lot] : 1));
    }
    return result;
  }

  bool admits(NodeId node, const LotItem& item) const {
    return nodes_.nodes()[node].admits(item.applicant.constraint, item.applicant.rung);
  }

  void list_nodes() {
    for (NodeId node; node < room_.end_id(); ++node) {
      SoldMachine machine{.room = &room_[node]};
      for (LotId lot; lot < lots_.lots().end_id(); ++lot) {
        const Lot& pods = lots_.lots()[lot];
        if (fits(*pods.requests, room_[node]) &&
            std::any_of(pods.items.begin(), pods.items.end(),
                        [&](std::uint32_t item) { return admits(node, lots_.items()[item]); })) {
          machine.users.push_back(lot);
        }
      }
      if (!machine.users.empty()) {
        machines_.push_back(std::move(machine));
        node_of_.push_back(node);
      }
    }
  }

  // Nodes with much of one resource and little of another come first: few pods suit them.
  std::vector<std::size_t> hardest_first() const {
    std::vector<double> balance;
    for (const SoldMachine& machine : machines_) {
      double least = INFINITY;
      double most = 0;
      for (std::size_t c = 0; c < lots_.demand().size(); ++c) {
        if (lots_.demand()[c] > 0) {
          const double part =
              static_cast<double>((*machine.room)[c]) / static_cast<double>(lots_.demand()[c]);
          least = std::min(least, part);
          most = std::max(most, part);
        }
      }
      balance.push_back(most > 0 ? least / most : 1);
    }
    std::vector<std::size_t> order(machines_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return balance[a] < balance[b]; });
    return order;
  }

  void put(Lot& lot, std::size_t machine) {
    for (const std::uint32_t index : lot.items) {
      LotItem& item = lots_.items()[index];
      if (!item.pods.empty() && admits(node_of_[machine], item)) {
        result_.emplace_back(item.pods.back(), node_of_[machine]);
        subtract_from(room_[node_of_[machine]], *lot.requests);
        lots_.remove_last(lot, item);
        return;
      }
    }
  }

  const PodClasses& pods_;
  const ExistingNodes& nodes_;
  Packing& packing_;
  const ById<PoolId, PoolTemplate>& pools_;
  PodLots lots_;
  ById<PodId, bool> movable_;
  ById<PodId, LotId> lot_of_;
  ById<NodeId, Amounts> room_;
  std::vector<SoldMachine> machines_;
  std::vector<NodeId> node_of_;  // by machine
  std::vector<std::pair<PodId, NodeId>> result_;
};

}  // namespace

std::vector<std::pair<PodId, NodeId>> dearest_on_nodes(const CompiledProblem& compiled,
                                                       Packing& packing, NodeValues by) {
  if (packing.drafts().claims().empty() || compiled.nodes.nodes().size() > kMaxNodes ||
      compiled.pods.pods.size() > kMaxFillingPods) {
    return {};
  }
  return NodeFilling(compiled, packing).run(by);
}

}  // namespace millwright::scheduling
