// What a consolidation saves per hour, and what it has to save by annotations of NodePools.
#pragma once

#include "disruption/survey.hpp"

#include <optional>
#include <span>

namespace millwright::disruption {

// Sums of equal prices differ by rounding; that is no saving, and no lack of one.
inline constexpr double kRounding = 1e-9;

// Of new nodes.
struct ClaimsCost {
  double price = 0;     // per hour, of their cheapest types
  double overhead = 0;  // per hour

  double sum() const { return price + overhead; }
};
ClaimsCost cost_of(const Survey& survey, std::span<const scheduling::PlannedClaim> claims);

// The most that any pool of the candidates asks for.
struct LeastSavings {
  double per_hour = 0;
  const Candidate* asked_by = nullptr;  // nullptr: any saving will do
};
// `cost` is what the candidates cost together per hour, with what they cost beside their instances.
LeastSavings least_savings(Candidates candidates, double cost);

// What takes the candidates' place must cost less than this.
double replacement_limit(double cost, const LeastSavings& least);
// Why nothing takes their place: `why`, unless a smaller saving might have been found.
Why not_cheap_enough(Why why, const LeastSavings& least);
// Why the consolidation is not made, though all of the candidates' pods have a place.
std::optional<Why> saves_too_little(double savings, double cost, const LeastSavings& least);

}  // namespace millwright::disruption
