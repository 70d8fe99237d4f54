#include "disruption/methods/prices/cheaper_claims.hpp"

#include "disruption/simulation/price.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace millwright::disruption {
namespace {

constexpr std::size_t kSpotToSpotTypes = 15;
constexpr double kAnyPrice = std::numeric_limits<double>::infinity();

const scheduling::InstanceTypes& types_for(const Survey& survey,
                                           const scheduling::PlannedClaim& claim) {
  return survey.input().catalog.find(claim.node_pool)->second;
}

bool all_spot(Candidates candidates) {
  return std::all_of(candidates.begin(), candidates.end(),
                     [](const auto* each) { return each->capacity_type == model::kSpot; });
}

// What the claim costs at worst if it is launched as the best of its types.
double least_worst_price(const Survey& survey, const scheduling::PlannedClaim& claim) {
  double least = kAnyPrice;
  for (const auto* type : options_of(claim, types_for(survey, claim))) {
    least = std::min(least, worst_launch_price(*type, claim.requirements));
  }
  return least;
}

// How much each claim may cost, so that all of them cost less than `limit`: its own least price,
// and an equal part of what is left. Empty when even the least prices come to too much.
std::vector<double> price_caps(const Survey& survey,
                               const std::vector<scheduling::PlannedClaim>& claims, double limit) {
  std::vector<double> caps;
  double sum = 0;
  for (const auto& claim : claims) {
    caps.push_back(least_worst_price(survey, claim));
    sum += caps.back();
  }
  if (!(sum < limit)) {
    return {};
  }
  const double spare = (limit - sum) / static_cast<double>(caps.size());
  for (double& cap : caps) {
    cap += spare;
  }
  return caps;
}

bool keep_below(const Survey& survey, scheduling::PlannedClaim& claim, double cap) {
  const auto requirements = claim.requirements;
  return narrow_types(claim, types_for(survey, claim), [&](const auto& type) {
    return worst_launch_price(type, requirements) < cap;
  });
}

// In place of one spot node only from a wide choice, or the next interruption comes soon and every
// price change moves the node again. Then the cheapest fifteen, or as many as minValues need:
// launching from the whole list again and again would end at the very cheapest type, which is the
// one that gets interrupted.
std::optional<Why> keep_fifteen(const Survey& survey, scheduling::PlannedClaim& claim) {
  if (claim.instance_types.size() < kSpotToSpotTypes) {
    return Why{Cause::FewSpotTypes,
               "only " + std::to_string(claim.instance_types.size()) +
                   " cheaper spot instance types satisfy its pods, and 15 are needed"};
  }
  const auto options = options_of(claim, types_for(survey, claim));
  std::vector<const scheduling::InstanceType*> kept;
  for (const auto& name : claim.instance_types) {
    kept.push_back(*std::find_if(options.begin(), options.end(),
                                 [&](const auto* type) { return type->name == name; }));
  }
  const auto needed = types_needed(claim.requirements, kept).value_or(0);
  kept.resize(std::max(kSpotToSpotTypes, needed));
  set_types(claim, std::move(kept));
  return std::nullopt;
}

// False when no type is left. Where minValues wants both capacity types, both stay open, and
// neither may cost `cap`: when spot has run out at the launch, it is the other one.
bool prefer_spot(const Survey& survey, scheduling::PlannedClaim& claim, double cap) {
  if (!allows(claim.requirements, model::kSpot) || !allows(claim.requirements, model::kOnDemand)) {
    return true;
  }
  auto spot_only = claim;
  pin_capacity_type(spot_only, model::kSpot);
  if (narrow_types(spot_only, types_for(survey, claim), [](const auto&) { return true; })) {
    claim = std::move(spot_only);
    return true;
  }
  auto on_demand = claim;
  pin_capacity_type(on_demand, model::kOnDemand);
  return narrow_types(claim, types_for(survey, claim), [&](const auto& type) {
    return worst_launch_price(type, on_demand.requirements) < cap;
  });
}

Why too_dear(std::size_t claims, bool spot_for_spot) {
  if (claims > 1) {
    return {Cause::ManyReplacements, "its pods would need " + std::to_string(claims) +
                                         " new nodes in its place, which cost too much"};
  }
  return spot_for_spot ? Why{Cause::NotCheaper, "no cheaper spot instance type satisfies its pods"}
                       : nothing_cheaper();
}

}  // namespace

Why nothing_cheaper() {
  return {Cause::NotCheaper, "no cheaper instance type satisfies its pods"};
}

std::optional<Why> keep_cheaper(const Survey& survey, Candidates candidates,
                                std::vector<scheduling::PlannedClaim>& claims, double limit) {
  bool spot_for_spot = false;
  for (auto& claim : claims) {
    if (!all_spot(candidates) || !allows(claim.requirements, model::kSpot)) {
      continue;
    }
    if (!survey.input().options.spot_to_spot) {
      return Why{Cause::SpotToSpotOff,
                 "replacing a spot node by another spot node needs the feature gate "
                 "SpotToSpotConsolidation"};
    }
    pin_capacity_type(claim, model::kSpot);
    spot_for_spot = true;
  }
  const auto caps = price_caps(survey, claims, limit);
  if (caps.empty()) {
    return too_dear(claims.size(), spot_for_spot);
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!keep_below(survey, claims[i], caps[i])) {
      return too_dear(claims.size(), spot_for_spot);
    }
    if (!spot_for_spot) {
      if (!prefer_spot(survey, claims[i], caps[i])) {
        return nothing_cheaper();
      }
    } else if (candidates.size() == 1) {
      if (auto few = keep_fifteen(survey, claims[i])) {
        return few;
      }
    }
  }
  return std::nullopt;
}

}  // namespace millwright::disruption
