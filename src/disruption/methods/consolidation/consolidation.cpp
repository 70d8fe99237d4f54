#include "disruption/methods/consolidation/consolidation.hpp"

#include "disruption/methods/prices/cheaper_claims.hpp"
#include "disruption/methods/prices/price_bounds.hpp"
#include "disruption/methods/prices/savings.hpp"
#include "disruption/simulation/price.hpp"
#include "millwright/base/money.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace millwright::disruption {
namespace {

constexpr std::size_t kNamed = 10;  // nodes in one summary

// Replacing three nodes by one of a type that is among them only means to remove the others, unless
// the one is cheaper wherever it is launched.
bool survives_same_type_filter(const Survey& survey, Candidates candidates,
                               scheduling::PlannedClaim& claim) {
  double limit = std::numeric_limits<double>::infinity();
  for (const auto* candidate : candidates) {
    const auto& names = claim.instance_types;
    if (std::find(names.begin(), names.end(), candidate->instance_type) != names.end()) {
      limit = std::min(limit, candidate->price);
    }
  }
  if (limit == std::numeric_limits<double>::infinity()) {
    return true;
  }
  const auto requirements = claim.requirements;
  const auto& types = survey.input().catalog.find(claim.node_pool)->second;
  return narrow_types(claim, types, [&](const auto& type) {
    return worst_launch_price(type, requirements) < limit;
  });
}

// Karpenter's Balanced policy: the share of the pool's cost that is saved must be at least half the
// share of its pods that are disturbed, in every Balanced pool the move touches.
bool is_balanced(Survey& survey, Candidates candidates, double savings) {
  double price = 0;
  struct Part {
    const model::NodePool* pool = nullptr;
    NodePrices::PoolTotal total;
  };
  std::map<std::string_view, Part> moved;  // by pool
  for (const auto* candidate : candidates) {
    price += candidate->price;
    auto& part = moved[candidate->pool->meta.name];
    part.pool = candidate->pool.get();
    part.total.price += candidate->price;
    part.total.disruption += candidate->disruption_cost();
  }
  bool approved = true;
  for (const auto& [name, part] : moved) {
    if (part.pool->consolidation_policy != "Balanced") {
      continue;
    }
    const auto whole = survey.prices().total_of(*part.pool);
    const double share = price > 0 ? savings * part.total.price / price : 0;
    Score score{.node_pool = std::string(name)};
    for (const auto* candidate : candidates) {
      score.claims.push_back(candidate->claim_name());
    }
    std::sort(score.claims.begin(), score.claims.end());
    if (share > 0 && whole.price > 0 && whole.disruption > 0) {
      const double saved = share / whole.price;
      const double disturbed = part.total.disruption / whole.disruption;
      score.value = saved / disturbed;
      score.approved = saved >= kApprovedScore * disturbed;
    }
    approved = approved && score.approved;
    survey.findings().score(std::move(score));
  }
  return approved;
}

// What going without the candidates is about.
struct Stake {
  double price = 0;  // per hour, of their instances
  double cost = 0;   // per hour
  EvictionPrice evictions;
  LeastSavings least;
};

Stake stake_of(Candidates candidates) {
  Stake stake;
  for (const auto* candidate : candidates) {
    stake.price += candidate->price;
    stake.cost += candidate->cost();
    stake.evictions += candidate->evictions;
  }
  stake.least = least_savings(candidates, stake.cost);
  return stake;
}

// Why the claims may not take the place of the candidates; what is dear among their types is gone
// then.
std::optional<Why> fault_of(const Survey& survey, Candidates candidates,
                            std::vector<scheduling::PlannedClaim>& claims, const Stake& stake) {
  if (std::any_of(claims.begin(), claims.end(),
                  [&](const auto& claim) { return stays_empty(survey, claim, candidates); })) {
    return Why{Cause::PodsStayAway, "no controller would create its pods again on a new node"};
  }
  const double limit =
      replacement_limit(stake.cost, stake.least) - cost_of(survey, claims).overhead;
  if (auto problem = keep_cheaper(survey, candidates, claims, limit)) {
    return not_cheap_enough(*std::move(problem), stake.least);
  }
  if (candidates.size() > 1 && !std::all_of(claims.begin(), claims.end(), [&](auto& claim) {
        return survives_same_type_filter(survey, candidates, claim);
      })) {
    return Why{Cause::SameType,
               "the replacement would be of a type that is among the nodes already"};
  }
  return std::nullopt;
}

Consolidation refused(Cause cause, std::string message) {
  return {.problem = Why{cause, std::move(message)}};
}

Consolidation needs_several(std::size_t claims, const std::string& but) {
  return refused(Cause::ManyReplacements, "its pods would need " + std::to_string(claims) +
                                              " new nodes in its place, " + but);
}

// Whether one way to place the candidates' pods is worth it.
Consolidation judge(Survey& survey, Candidates candidates, SimulatedRemoval removal) {
  if (removal.problem) {
    return {.problem = std::move(removal.problem)};
  }
  const Stake stake = stake_of(candidates);
  auto& claims = removal.claims;
  if (!claims.empty()) {
    if (auto fault = fault_of(survey, candidates, claims, stake)) {
      return {.problem = std::move(fault)};
    }
  }
  const auto bought = cost_of(survey, claims);
  const double savings = stake.cost - bought.sum();
  if (claims.size() > 1 && savings < kWorthMore * stake.cost) {
    return needs_several(claims.size(), "which save too little");
  }
  const bool cheaper_instances = bought.price < stake.price * (1 - kRounding);
  if (!claims.empty() && !cheaper_instances && savings < kWorthMore * stake.cost) {
    return refused(Cause::NotCheaper,
                   "new nodes would save nothing but what a node costs beside its instance, which "
                   "is too little for the pods that would move");
  }
  if (stake.evictions.lost_work > 0 && savings < stake.evictions.lost_work) {
    return refused(Cause::WorkLost,
                   "pods of Jobs would begin again: the work that they would lose has cost more "
                   "than is saved in an hour");
  }
  if (auto why = saves_too_little(savings, stake.cost, stake.least)) {
    return {.problem = std::move(why)};
  }
  if (!is_balanced(survey, candidates, stake.price - bought.price)) {
    return refused(Cause::Unbalanced,
                   "the saving is too small for the pods it would disturb (consolidationPolicy "
                   "Balanced)");
  }
  Command command{
      .reason = Reason::Underutilized, .savings = savings, .eviction_price = stake.evictions.sum()};
  for (const auto* candidate : candidates) {
    command.claims.push_back(candidate->claim_name());
  }
  std::sort(command.claims.begin(), command.claims.end());
  command.replacements = std::move(claims);
  command.placements = std::move(removal.placements);
  command.summary = summarize(command, candidates);
  return {.command = std::move(command)};
}

// One pass may do where the cheapest plan does not: that has several new nodes, or one of too few
// types, or puts a pod that waits on the new node although another has room for it.
bool may_suit_better(std::size_t claims, const Consolidation& cheapest) {
  const auto& problem = cheapest.problem;
  if (problem && problem->cause == Cause::OthersNeedRoom) {
    return true;
  }
  return claims > 1 ||
         (claims == 1 && problem &&
          (problem->cause == Cause::FewSpotTypes || problem->cause == Cause::SameType));
}

}  // namespace

std::string summarize(const Command& command, Candidates candidates) {
  std::string text(to_string(command.reason));
  text += command.replacements.empty() ? ": remove node" : ": replace node";
  text += candidates.size() > 1 ? "s " : " ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == kNamed) {
      text += " and " + std::to_string(candidates.size() - kNamed) + " more";
      break;
    }
    text += i == 0 ? "" : ", ";
    text += candidates[i]->record->name();
    if (!candidates[i]->instance_type.empty()) {
      text += " (" + candidates[i]->instance_type + ")";
    }
  }
  for (std::size_t i = 0; i < command.replacements.size(); ++i) {
    const auto& types = command.replacements[i].instance_types;
    text += i == 0 ? " by " : ", ";
    text += types.empty() ? "a new node" : types.front();
  }
  if (command.savings > 0) {
    text += ", saving " + base::format_price(command.savings);
  }
  return text;
}

bool is_better(const Command& command, const Command& than) {
  const double worth = command.savings - command.eviction_price;
  const double other = than.savings - than.eviction_price;
  return worth > other + kRounding * (std::abs(worth) + std::abs(other));
}

Consolidation consolidate_with_one(Survey& survey, Candidates candidates) {
  auto removal = simulate_removal(survey, candidates, Reason::Underutilized, Planning::OnePass);
  if (removal.claims.size() > 1) {
    return needs_several(removal.claims.size(), "and one at most is looked for");
  }
  auto result = judge(survey, candidates, std::move(removal));
  result.with_one_node = result.command.has_value();
  return result;
}

Consolidation consolidate_as_wanted(Survey& survey, Candidates candidates,
                                    std::span<const scheduling::Placement> wanted) {
  auto removal =
      simulate_removal(survey, candidates, Reason::Underutilized, Planning::Cheapest, wanted);
  const std::size_t claims = removal.claims.size();
  auto result = judge(survey, candidates, std::move(removal));
  result.with_one_node = result.command && claims <= 1;
  return result;
}

Consolidation consolidate(Survey& survey, Candidates candidates, std::size_t most_for_several) {
  const Stake stake = stake_of(candidates);
  const bool many = candidates.size() > most_for_several;
  if (is_hopeless(survey, candidates, replacement_limit(stake.cost, stake.least), many)) {
    return {.problem = not_cheap_enough(nothing_cheaper(), stake.least)};
  }
  auto removal = simulate_removal(survey, candidates, Reason::Underutilized,
                                  many ? Planning::OnePass : Planning::Cheapest);
  const std::size_t claims = removal.claims.size();
  if (many && claims > 1) {
    return needs_several(claims, "which would be a plan from scratch");
  }
  auto cheapest = judge(survey, candidates, std::move(removal));
  cheapest.with_one_node = cheapest.command && claims <= 1;
  if (candidates.size() > kMostForSeveral || !may_suit_better(claims, cheapest)) {
    return cheapest;
  }
  auto with_one = consolidate_with_one(survey, candidates);
  if (with_one.problem && with_one.problem->cause == Cause::ManyReplacements) {
    return cheapest;
  }
  const bool wins =
      with_one.command && (!cheapest.command || is_better(*with_one.command, *cheapest.command));
  if (wins || (!cheapest.command && claims > 1)) {
    return with_one;
  }
  cheapest.with_one_node = with_one.with_one_node;
  return cheapest;
}

}  // namespace millwright::disruption
