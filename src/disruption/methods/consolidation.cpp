#include "disruption/methods/consolidation.hpp"

#include "disruption/simulation/price.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace millwright::disruption {
namespace {

constexpr std::size_t kSpotToSpotTypes = 15;
constexpr std::size_t kNamed = 10;          // nodes in one summary
constexpr double kBalancedThreshold = 0.5;  // 1 / k with k = 2
// Sums of equal prices differ by rounding; that is no saving.
constexpr double kRounding = 1e-9;

std::string dollars(double amount) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "$%.3g/h", amount);
  return text.data();
}

Why nothing_cheaper() {
  return {Cause::NotCheaper, "no cheaper instance type satisfies its pods"};
}

bool all_spot(Candidates candidates) {
  return std::all_of(candidates.begin(), candidates.end(),
                     [](const auto* each) { return each->capacity_type == model::kSpot; });
}

const scheduling::InstanceTypes& types_for(const Survey& survey,
                                           const scheduling::PlannedClaim& claim) {
  return survey.input().catalog.find(claim.node_pool)->second;
}

// Spot for spot: only from a wide choice, or the next interruption comes soon and every price
// change moves the node again. nullopt when the replacement stands.
std::optional<Why> keep_cheaper_spot(const Survey& survey, Candidates candidates,
                                     scheduling::PlannedClaim& claim, double price) {
  if (!survey.input().options.spot_to_spot) {
    return Why{Cause::SpotToSpotOff,
               "replacing a spot node by another spot node needs the feature gate "
               "SpotToSpotConsolidation"};
  }
  pin_capacity_type(claim, model::kSpot);
  const auto requirements = claim.requirements;
  const bool narrowed = narrow_types(claim, types_for(survey, claim), [&](const auto& type) {
    return worst_launch_price(type, requirements) < price;
  });
  if (!narrowed) {
    return Why{Cause::NotCheaper, "no cheaper spot instance type satisfies its pods"};
  }
  if (candidates.size() > 1) {
    return std::nullopt;
  }
  if (claim.instance_types.size() < kSpotToSpotTypes) {
    return Why{Cause::FewSpotTypes,
               "only " + std::to_string(claim.instance_types.size()) +
                   " cheaper spot instance types satisfy its pods, and 15 are needed"};
  }
  // The cheapest fifteen, or as many as minValues need: launching from the whole list again and
  // again would end at the very cheapest type, which is the one that gets interrupted.
  auto ordered = options_of(claim, types_for(survey, claim));
  std::vector<const scheduling::InstanceType*> kept;
  for (const auto& name : claim.instance_types) {
    kept.push_back(*std::find_if(ordered.begin(), ordered.end(),
                                 [&](const auto* type) { return type->name == name; }));
  }
  const auto needed = types_needed(claim.requirements, kept).value_or(0);
  kept.resize(std::max(kSpotToSpotTypes, needed));
  set_types(claim, std::move(kept));
  return std::nullopt;
}

// The launch must be cheaper whatever offering it gets, and must not fall back to a dearer
// on-demand one because spot is short.
std::optional<Why> keep_cheaper(const Survey& survey, scheduling::PlannedClaim& claim,
                                double price) {
  const auto& types = types_for(survey, claim);
  const auto requirements = claim.requirements;
  const auto cheaper = [&](const scheduling::InstanceType& type) {
    return worst_launch_price(type, requirements) < price;
  };
  if (!narrow_types(claim, types, cheaper)) {
    return nothing_cheaper();
  }
  if (allows(requirements, model::kSpot) && allows(requirements, model::kOnDemand)) {
    auto spot_only = claim;
    pin_capacity_type(spot_only, model::kSpot);
    if (narrow_types(spot_only, types, [](const auto&) { return true; })) {
      claim = std::move(spot_only);
    }
  }
  return std::nullopt;
}

// Replacing three nodes by one of a type that is among them only means to remove the others.
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
  return narrow_types(claim, types_for(survey, claim), [&](const auto& type) {
    const auto* offering = scheduling::cheapest_offering(type, requirements);
    return offering != nullptr && offering->price < limit;
  });
}

// Whether a look at sizes and prices alone shows that nothing can come of it: pods too large for
// any free room must share one new node, and nothing cheaper is that large. While a cluster does
// not change, this spares nearly every simulation.
bool is_hopeless(const Survey& survey, Candidates candidates, double price) {
  model::ResourceList homeless;
  const auto look_at = [&](const scheduling::PodPtr& pod) {
    const auto requests = scheduling::effective_requests(*pod);
    const bool fits_somewhere =
        std::all_of(requests.begin(), requests.end(), [&](const auto& item) {
          return item.second <= model::get(survey.destinations().most_free(), item.first);
        });
    if (!fits_somewhere) {
      model::add_to(homeless, requests);
    }
  };
  for (const auto* candidate : candidates) {
    std::for_each(candidate->pods.begin(), candidate->pods.end(), look_at);
    std::for_each(candidate->virtual_pods.begin(), candidate->virtual_pods.end(), look_at);
  }
  return !homeless.empty() &&
         std::none_of(survey.destinations().for_sale().begin(),
                      survey.destinations().for_sale().end(), [&](const auto& type) {
                        return type.price < price && model::fits(homeless, type.room);
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
    part.total.disruption += candidate->disruption_cost;
  }
  bool approved = true;
  for (const auto& [name, part] : moved) {
    if (part.pool->consolidation_policy != "Balanced") {
      continue;
    }
    const auto whole = survey.prices().total_of(*part.pool);
    const double share = price > 0 ? savings * part.total.price / price : 0;
    Score score{.node_pool = std::string(name)};
    if (share > 0 && whole.price > 0 && whole.disruption > 0) {
      const double saved = share / whole.price;
      const double disturbed = part.total.disruption / whole.disruption;
      score.value = saved / disturbed;
      score.approved = saved >= kBalancedThreshold * disturbed;
    }
    approved = approved && score.approved;
    survey.findings().score(std::move(score));
  }
  return approved;
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
    text += ", saving " + dollars(command.savings);
  }
  return text;
}

Consolidation consolidate(Survey& survey, Candidates candidates) {
  double price = 0;
  for (const auto* candidate : candidates) {
    price += candidate->price;
  }
  const double cheaper_than = price * (1 - kRounding);
  if (is_hopeless(survey, candidates, cheaper_than)) {
    return {std::nullopt, nothing_cheaper()};
  }
  auto removal = simulate_removal(survey, candidates, Reason::Underutilized);
  if (removal.problem) {
    return {std::nullopt, std::move(removal.problem)};
  }
  if (removal.claims.size() > 1) {
    return {std::nullopt, Why{Cause::ManyReplacements, "its pods would need " +
                                                           std::to_string(removal.claims.size()) +
                                                           " new nodes in its place"}};
  }
  Command command{.reason = Reason::Underutilized};
  for (const auto* candidate : candidates) {
    command.claims.push_back(candidate->claim_name());
  }
  std::sort(command.claims.begin(), command.claims.end());
  command.savings = price;
  if (!removal.claims.empty()) {
    auto& claim = removal.claims.front();
    if (stays_empty(survey, claim, candidates)) {
      return {std::nullopt,
              Why{Cause::PodsStayAway, "no controller would create its pods again on a new node"}};
    }
    const bool spot_to_spot = all_spot(candidates) && allows(claim.requirements, model::kSpot);
    auto problem = spot_to_spot ? keep_cheaper_spot(survey, candidates, claim, cheaper_than)
                                : keep_cheaper(survey, claim, cheaper_than);
    if (!problem && candidates.size() > 1 &&
        !survives_same_type_filter(survey, candidates, claim)) {
      problem = Why{Cause::SameType,
                    "the replacement would be of a type that is among the nodes already"};
    }
    if (problem) {
      return {std::nullopt, std::move(problem)};
    }
    command.savings = price - claim.price;
  }
  if (!is_balanced(survey, candidates, command.savings)) {
    return {std::nullopt, Why{Cause::Unbalanced,
                              "the saving is too small for the pods it would disturb "
                              "(consolidationPolicy Balanced)"}};
  }
  command.replacements = std::move(removal.claims);
  command.placements = std::move(removal.placements);
  command.summary = summarize(command, candidates);
  return {std::move(command), std::nullopt};
}

}  // namespace millwright::disruption
