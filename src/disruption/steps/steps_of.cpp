#include "disruption/steps/steps_of.hpp"

#include "disruption/methods/prices/savings.hpp"
#include "disruption/simulation/same_shape.hpp"
#include "disruption/steps/running_pods.hpp"
#include "millwright/scheduling/pod_rules.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace millwright::disruption {
namespace {

// Each takes as long as the check of the whole command.
constexpr int kMostStepProofs = 4;

struct Part {
  std::vector<const Candidate*> nodes;
  std::set<std::size_t> replacements;

  void add(const Part& other) {
    nodes.insert(nodes.end(), other.nodes.begin(), other.nodes.end());
    replacements.insert(other.replacements.begin(), other.replacements.end());
  }
  bool shares_with(const Part& other) const {
    return std::any_of(replacements.begin(), replacements.end(),
                       [&](std::size_t each) { return other.replacements.contains(each); });
  }
};

// One for each node, with the new nodes that its pods go to.
std::vector<Part> parts_of(Candidates candidates, const Command& command) {
  std::map<std::string_view, std::size_t> bought;  // by pod uid
  for (const auto& placement : command.placements) {
    if (const auto* index = std::get_if<std::size_t>(&placement.target)) {
      bought.emplace(placement.pod_uid, *index);
    }
  }
  std::vector<Part> parts;
  for (const auto* candidate : candidates) {
    Part part{.nodes = {candidate}, .replacements = {}};
    for (const auto* pods : {&candidate->pods(), &candidate->virtual_pods}) {
      for (const auto& pod : *pods) {
        if (const auto found = bought.find(pod->meta.uid); found != bought.end()) {
          part.replacements.insert(found->second);
        }
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// Those without new nodes first, all together; then those that share new nodes.
std::vector<std::vector<Part>> sets_of(const std::vector<Part>& parts) {
  std::vector<std::vector<Part>> sets(1);
  for (const auto& part : parts) {
    if (part.replacements.empty()) {
      sets.front().push_back(part);
      continue;
    }
    std::vector<Part> joined;
    for (auto set = sets.begin() + 1; set != sets.end();) {
      const bool shared = std::any_of(set->begin(), set->end(),
                                      [&](const Part& each) { return each.shares_with(part); });
      if (shared) {
        joined.insert(joined.end(), set->begin(), set->end());
      }
      set = shared ? sets.erase(set) : set + 1;
    }
    joined.push_back(part);
    sets.push_back(std::move(joined));
  }
  if (sets.front().empty()) {
    sets.erase(sets.begin());
  }
  return sets;
}

// How many pods a step may take, of each budget and of each controller.
class Limits {
 public:
  Limits(const Survey& survey, Candidates candidates)
      : obstacles_(survey.input().snapshot->disruption_budgets, survey.input().now) {
    for (const auto* candidate : candidates) {
      for (const auto& pod : candidate->pods()) {
        if (const auto controller = stand_ins_of(*pod); !controller.empty()) {
          running_.emplace(controller, 0);
        }
      }
    }
    for (const auto& record : survey.input().snapshot->nodes) {
      if (is_going(survey.input(), *record)) {
        continue;
      }
      for (const auto& pod : record->pods) {
        const auto found = running_.find(stand_ins_of(*pod));
        if (found != running_.end() && is_serving(*pod)) {
          ++found->second;
        }
      }
    }
  }

  using Key = const void*;
  // What evicting the pods of a node takes, beside what may be taken.
  struct Use {
    int taken = 0;
    int most = 0;
  };
  std::map<Key, Use> of(const Candidate& candidate) const {
    std::map<Key, Use> uses;
    for (const auto& pod : candidate.pods()) {
      for (const auto& budget : obstacles_.budgets_of(*pod)) {
        add(uses, budget.get(), static_cast<int>(budget->disruptions_allowed));
      }
      const auto found = running_.find(stand_ins_of(*pod));
      if (found != running_.end() && found->second > 1 && is_serving(*pod)) {
        add(uses, &*found, found->second - 1);
      }
    }
    return uses;
  }

 private:
  static void add(std::map<Key, Use>& uses, Key key, int most) {
    auto& use = uses[key];
    ++use.taken;
    use.most = most;
  }

  PodObstacles obstacles_;
  std::map<std::string_view, int> running_;  // pods, by controller
};

// Each with as many nodes as go at once.
std::vector<Part> waves_of(const std::vector<Part>& set, const Limits& limits) {
  struct Wave {
    Part part;
    std::map<Limits::Key, int> taken;
  };
  std::vector<Wave> waves;
  for (const auto& part : set) {
    const auto uses = limits.of(*part.nodes.front());
    auto wave = std::find_if(waves.begin(), waves.end(), [&](const Wave& each) {
      return std::all_of(uses.begin(), uses.end(), [&](const auto& use) {
        const auto found = each.taken.find(use.first);
        return found == each.taken.end() || found->second + use.second.taken <= use.second.most;
      });
    });
    if (wave == waves.end()) {
      wave = waves.insert(waves.end(), Wave());
    }
    wave->part.add(part);
    for (const auto& [key, use] : uses) {
      wave->taken[key] += use.taken;
    }
  }
  std::vector<Part> parts;
  std::transform(waves.begin(), waves.end(), std::back_inserter(parts),
                 [](Wave& wave) { return std::move(wave.part); });
  return parts;
}

class StepProofs {
 public:
  StepProofs(const Survey& survey, const Command& command) : survey_(survey), command_(command) {}

  // Whether it would have been right if nothing else went.
  bool stands_alone(const Part& part) {
    return is_worth_it(part) && (!has_rules(part) || is_simulated(part));
  }

  double savings_of(const Part& part) const {
    double cost = 0;
    for (const auto* node : part.nodes) {
      cost += node->cost();
    }
    return cost - cost_of(survey_, replacements_of(part)).sum();
  }

 private:
  std::vector<scheduling::PlannedClaim> replacements_of(const Part& part) const {
    std::vector<scheduling::PlannedClaim> claims;
    for (const std::size_t index : part.replacements) {
      claims.push_back(command_.replacements[index]);
    }
    return claims;
  }

  bool is_worth_it(const Part& part) const {
    double cost = 0;
    double lost_work = 0;
    for (const auto* node : part.nodes) {
      cost += node->cost();
      lost_work += node->evictions.lost_work;
    }
    const double savings = savings_of(part);
    return savings > kRounding * cost && savings >= lost_work &&
           !saves_too_little(savings, cost, least_savings(part.nodes, cost));
  }

  bool has_rules(const Part& part) const {
    return !survey_.input().options.solve.default_spread.empty() ||
           std::any_of(part.nodes.begin(), part.nodes.end(), [](const auto* node) {
             return std::any_of(node->pods().begin(), node->pods().end(), [](const auto& pod) {
               return scheduling::has_topology(pod->spec);
             });
           });
  }

  bool is_simulated(const Part& part) {
    return ++proofs_ <= kMostStepProofs &&
           same_shape(command_.reason, replacements_of(part),
                      simulate_removal(survey_, part.nodes, command_.reason, Planning::Cheapest,
                                       command_.placements));
  }

  const Survey& survey_;
  const Command& command_;
  int proofs_ = 0;
};

Step step_of(const Part& part, double savings) {
  Step step{.claims = {},
            .replacements = {part.replacements.begin(), part.replacements.end()},
            .savings = savings};
  for (const auto* node : part.nodes) {
    step.claims.push_back(node->claim_name());
  }
  std::sort(step.claims.begin(), step.claims.end());
  return step;
}

std::vector<Step> one_step(const Command& command) {
  Step step{.claims = command.claims, .replacements = {}, .savings = command.savings};
  for (std::size_t i = 0; i < command.replacements.size(); ++i) {
    step.replacements.push_back(i);
  }
  return {std::move(step)};
}

}  // namespace

std::vector<Step> steps_of(const Survey& survey, Candidates candidates, const Command& command) {
  const bool balanced = std::any_of(candidates.begin(), candidates.end(), [](const auto* each) {
    return each->pool->consolidation_policy == "Balanced";
  });
  if (command.reason != Reason::Underutilized || candidates.size() < 2 || balanced) {
    return one_step(command);
  }
  const Limits limits(survey, candidates);
  std::vector<Part> waves;
  for (const auto& set : sets_of(parts_of(candidates, command))) {
    auto parts = waves_of(set, limits);
    std::move(parts.begin(), parts.end(), std::back_inserter(waves));
  }
  StepProofs proofs(survey, command);
  std::vector<Step> steps;
  Part begun;
  Part next;
  for (std::size_t i = 0; i < waves.size(); ++i) {
    next.add(waves[i]);
    auto together = begun;
    together.add(next);
    if (i + 1 == waves.size() || proofs.stands_alone(together)) {
      steps.push_back(step_of(next, proofs.savings_of(together) - proofs.savings_of(begun)));
      begun = std::move(together);
      next = Part();
    }
  }
  return steps;
}

}  // namespace millwright::disruption
