// What a replacement costs at worst, and which of its types keep it worth while.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <optional>
#include <string>
#include <vector>

namespace millwright::disruption {

// The most expensive available offering that `requirements` allow, of the first capacity type that
// has one in the order reserved, spot, on-demand: what a launch may end up costing. Infinite when
// there is none. Karpenter's WorstLaunchPrice.
double worst_launch_price(const scheduling::InstanceType& type,
                          const scheduling::Requirements& requirements);

bool allows(const scheduling::Requirements& requirements, std::string_view capacity_type);
void pin_capacity_type(scheduling::PlannedClaim& claim, std::string_view capacity_type);

// Keeps the named options that `keep` accepts, cheapest first, and puts them into the claim's
// requirements and price. False when none is left or a minValues no longer holds.
template <class Keep>
bool narrow_types(scheduling::PlannedClaim& claim, const scheduling::InstanceTypes& types,
                  Keep keep);

// The same with the kept options given; used by narrow_types.
bool set_types(scheduling::PlannedClaim& claim, std::vector<const scheduling::InstanceType*> kept);
// The claim's options that the catalog knows.
std::vector<const scheduling::InstanceType*> options_of(const scheduling::PlannedClaim& claim,
                                                        const scheduling::InstanceTypes& types);
// How many leading types of `ordered` the claim's minValues need.
std::optional<std::size_t> types_needed(
    const scheduling::Requirements& requirements,
    const std::vector<const scheduling::InstanceType*>& ordered);

template <class Keep>
bool narrow_types(scheduling::PlannedClaim& claim, const scheduling::InstanceTypes& types,
                  Keep keep) {
  auto options = options_of(claim, types);
  std::erase_if(options, [&](const auto* type) { return !keep(*type); });
  return set_types(claim, std::move(options));
}

}  // namespace millwright::disruption
