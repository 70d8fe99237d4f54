#include "disruption/methods/prices/savings.hpp"

#include "disruption/candidates/held_back.hpp"
#include "millwright/base/money.hpp"

#include <algorithm>

namespace millwright::disruption {

ClaimsCost cost_of(const Survey& survey, std::span<const scheduling::PlannedClaim> claims) {
  ClaimsCost cost;
  for (const auto& claim : claims) {
    cost.price += claim.price;
    if (const auto pool = survey.pools().find(claim.node_pool)) {
      cost.overhead += survey.prices().overhead_of(survey.pools().preferences_of(*pool));
    }
  }
  return cost;
}

LeastSavings least_savings(Candidates candidates, double cost) {
  LeastSavings least;
  for (const auto* candidate : candidates) {
    const auto& asked = *candidate->preferences;
    const double amount = std::max(asked.min_savings, asked.min_savings_share * cost);
    if (amount > least.per_hour) {
      least = {.per_hour = amount, .asked_by = candidate};
    }
  }
  return least;
}

double replacement_limit(double cost, const LeastSavings& least) {
  return std::min(cost * (1 - kRounding), cost * (1 + kRounding) - least.per_hour);
}

Why not_cheap_enough(Why why, const LeastSavings& least) {
  if (why.cause != Cause::NotCheaper || least.asked_by == nullptr) {
    return why;
  }
  return {Cause::SavesTooLittle, "no instance type satisfies its pods and saves as much as " +
                                     asked_for(*least.asked_by, model::kMinSavingsAnnotation)};
}

std::optional<Why> saves_too_little(double savings, double cost, const LeastSavings& least) {
  if (least.asked_by == nullptr || savings >= least.per_hour - kRounding * cost) {
    return std::nullopt;
  }
  return Why{Cause::SavesTooLittle, "it would save " + base::format_price(savings) +
                                        ", less than " +
                                        asked_for(*least.asked_by, model::kMinSavingsAnnotation)};
}

}  // namespace millwright::disruption
