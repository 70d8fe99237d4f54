// Lots, machines and amounts as the parts of the search see them (src/scheduling): a problem made
// ready, packed once by the fast pass, and its claims taken apart again.
#pragma once

#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/packing/packing.hpp"
#include "scheduling/packing/pod_orders.hpp"
#include "scheduling/search/filling/fill.hpp"
#include "scheduling/search/filling/sold_machines.hpp"
#include "scheduling/search/lots/pod_lots.hpp"
#include "unit/scheduling/builders.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millwright::scheduling::testing {

// Pods that are alike: CPUs, GiB, how many.
struct LotOf {
  int cpu = 1;
  int memory = 1;
  int pods = 1;
};

inline PodBuilder pod_of(const std::string& name, const LotOf& lot) {
  return pod(name).cpu(std::to_string(lot.cpu)).memory(std::to_string(lot.memory) + "Gi");
}

inline void add_lots(ProblemBuilder& problem, const std::vector<LotOf>& lots) {
  for (std::size_t i = 0; i < lots.size(); ++i) {
    const std::string name = "lot" + std::to_string(i);
    problem.add(pods(lots[i].pods, name, pod_of(name, lots[i])));
  }
}

// CPUs, GiB, pods, price; without overhead.
struct MachineOf {
  int cpu = 4;
  int memory = 4;
  int pods = 10;
  double price = 1;
};

inline InstanceTypes types_of(const std::vector<MachineOf>& machines) {
  std::vector<InstanceType> list;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    list.push_back(type("machine" + std::to_string(i))
                       .cpu(std::to_string(machines[i].cpu))
                       .memory(std::to_string(machines[i].memory) + "Gi")
                       .max_pods(std::to_string(machines[i].pods))
                       .no_overhead()
                       .price(machines[i].price));
  }
  return types(std::move(list));
}

inline ProblemBuilder world_of(const std::vector<MachineOf>& machines,
                               const std::vector<LotOf>& lots) {
  ProblemBuilder problem;
  problem.add(pool("default"), types_of(machines));
  add_lots(problem, lots);
  return problem;
}

// Refers to itself: it stays where it is.
class SearchWorld {
 public:
  explicit SearchWorld(const ProblemBuilder& builder)
      : problem_(builder.problem()),
        compiled_(problem_),
        order_(karpenters_order(compiled_.pods)),
        allowance_(problem_.options.allowance),
        packing_(compiled_, {.order = order_}, allowance_),
        lots_(compiled_.pods, compiled_.topology, packing_.drafts()) {
    packing_.run();
    for (const ClaimDraft& claim : packing_.drafts().claims()) {
      lots_.take(claim);
    }
    if (lots_.pods_left() > 0) {
      lots_.sort(compiled_.pools);
    }
  }
  SearchWorld(const SearchWorld&) = delete;
  SearchWorld& operator=(const SearchWorld&) = delete;

  const CompiledProblem& compiled() const { return compiled_; }
  Packing& packing() { return packing_; }
  PodLots& lots() { return lots_; }
  const ById<LotId, Lot>& all() const { return lots_.lots(); }
  Amounts room(const MachineOf& machine) const {
    return compiled_.pods.columns.amounts(
        resources({{"cpu", std::to_string(machine.cpu)},
                   {"memory", std::to_string(machine.memory) + "Gi"},
                   {"pods", std::to_string(machine.pods)}}));
  }
  std::vector<SoldMachine> machines() {
    return machines_for(lots_, compiled_.pools.front(), packing_.drafts().shapes());
  }

 private:
  Problem problem_;
  CompiledProblem compiled_;
  std::vector<PodId> order_;
  Allowance allowance_;
  Packing packing_;
  PodLots lots_;
};

// Nodes with this room, of which every lot may use each that holds one of its pods.
inline std::vector<SoldMachine> nodes_of(const SearchWorld& world,
                                         const std::vector<Amounts>& rooms) {
  std::vector<SoldMachine> nodes;
  for (const Amounts& room : rooms) {
    SoldMachine& node = nodes.emplace_back();
    node.room = &room;
    for (LotId lot; lot < world.all().end_id(); ++lot) {
      if (fits(*world.all()[lot].requests, room)) {
        node.users.push_back(lot);
      }
    }
  }
  return nodes;
}

// What the pods of the fill ask for.
inline Amounts requests_of(const FillPods& pods, const ById<LotId, Lot>& lots, std::size_t width) {
  Amounts total(width, 0);
  for (const auto& [lot, count] : pods) {
    for (std::uint32_t i = 0; i < count; ++i) {
      add_to(total, *lots[lot].requests);
    }
  }
  return total;
}

inline double value_of(const FillPods& pods, const ById<LotId, double>& values) {
  double total = 0;
  for (const auto& [lot, count] : pods) {
    total += values[lot] * count;
  }
  return total;
}

// Every fill of the room with no more than `most` of each lot, one without pods among them.
template <class Visit>
void for_each_fill(const ById<LotId, Lot>& lots, const ById<LotId, std::size_t>& most,
                   const Amounts& room, const Visit& visit) {
  FillPods pods;
  const auto from = [&](const auto& self, LotId lot, Amounts left) -> void {
    if (lot == lots.end_id()) {
      visit(pods);
      return;
    }
    LotId next = lot;
    self(self, ++next, left);
    for (std::uint32_t count = 1; count <= most[lot] && fits(*lots[lot].requests, left); ++count) {
      subtract_from(left, *lots[lot].requests);
      pods.emplace_back(lot, count);
      self(self, next, left);
      pods.pop_back();
    }
  };
  from(from, LotId(), room);
}

}  // namespace millwright::scheduling::testing
