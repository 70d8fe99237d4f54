#include "disruption/methods/consolidation/removal_order.hpp"

#include "millwright/scheduling/removal_program.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace millwright::disruption {
namespace {

using scheduling::RemovalProgram;

// Everything on the node that is no DaemonSet's has to go elsewhere.
model::ResourceList must_move(const Candidate& candidate) {
  auto moving = candidate.record->pod_requests;
  model::subtract_from(moving, candidate.record->daemon_requests);
  for (const auto& pod : candidate.virtual_pods) {
    model::add_to(moving, scheduling::effective_requests(*pod));
  }
  return moving;
}

bool is_place(const Destination& destination) {
  return destination.sized && !destination.within_consolidate_after && !destination.down &&
         destination.record->initialized();
}

class ProgramOfSurvey {
 public:
  ProgramOfSurvey(const Survey& survey, const std::vector<const Candidate*>& eligible)
      : survey_(survey) {
    for (const auto* candidate : eligible) {
      places_.emplace(candidate->record.get(), nullptr);
    }
    for (const auto& destination : survey.destinations().nodes()) {
      if (!is_place(destination)) {
        continue;
      }
      if (const auto found = places_.find(destination.record.get()); found != places_.end()) {
        found->second = &destination;
      } else {
        add_room(free_elsewhere_, destination);
      }
    }
    for (const auto* candidate : eligible) {
      add_node(*candidate);
    }
    model::subtract_from(program_.demand, free_elsewhere_);
    add_machines(eligible);
  }

  RemovalProgram program() && { return std::move(program_); }

 private:
  // What has been promised more than a node has is no room, but takes none from others either.
  static void add_room(model::ResourceList& total, const Destination& destination) {
    for (const auto& [name, quantity] : destination.free) {
      if (quantity > model::Quantity()) {
        model::add_to(total, {{name, quantity}});
      }
    }
  }

  std::size_t budget_of(const model::NodePool& pool) {
    const auto [found, is_new] = budgets_.try_emplace(pool.meta.name, program_.budgets.size());
    if (is_new) {
      program_.budgets.push_back(survey_.budgets().of(pool, Reason::Underutilized));
    }
    return found->second;
  }

  void add_node(const Candidate& candidate) {
    auto room = must_move(candidate);
    model::add_to(program_.demand, room);
    if (const auto* place = places_.at(candidate.record.get())) {
      add_room(room, *place);
    }
    program_.nodes.push_back({.room = std::move(room),
                              .cost = candidate.cost(),
                              .eviction_price = candidate.evictions.sum(),
                              .budget = budget_of(*candidate.pool)});
  }

  // A node costs what it costs beside its instance, too; the least of any pool.
  void add_machines(const std::vector<const Candidate*>& eligible) {
    double overhead = std::numeric_limits<double>::infinity();
    bool only_spot = true;
    for (const auto* candidate : eligible) {
      overhead = std::min(overhead, candidate->overhead);
      only_spot = only_spot && candidate->capacity_type == model::kSpot;
    }
    if (only_spot && !survey_.input().options.spot_to_spot) {
      return;
    }
    for (const auto& type : survey_.destinations().for_sale()) {
      program_.machines.push_back({type.room, type.price + overhead});
    }
  }

  const Survey& survey_;
  RemovalProgram program_;
  // Candidates whose own free room is room for others, and where that is noted.
  std::unordered_map<const scheduling::NodeRecord*, const Destination*> places_;
  model::ResourceList free_elsewhere_;
  std::map<std::string_view, std::size_t> budgets_;  // by pool
};

}  // namespace

RemovalOrder removal_order(const Survey& survey, const std::vector<const Candidate*>& eligible) {
  const auto advice = scheduling::solve(ProgramOfSurvey(survey, eligible).program());
  std::vector<std::size_t> order(eligible.size());
  double gone = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    gone += 1 - advice.kept[i];
  }
  const auto rank = [&](std::size_t i) { return std::tuple(advice.kept[i], advice.regret[i], i); };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
  RemovalOrder result{.gone = static_cast<std::size_t>(std::max(gone, 0.0) + 0.5),
                      .saved = advice.saved,
                      .bought = advice.bought};
  for (const std::size_t i : order) {
    result.nodes.push_back(eligible[i]);
  }
  return result;
}

}  // namespace millwright::disruption
