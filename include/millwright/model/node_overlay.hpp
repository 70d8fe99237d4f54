// NodeOverlay (karpenter.sh/v1alpha1): what to believe about instance types instead of what the
// cloud says: their price and the extended resources that their nodes will have.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/resources.hpp"
#include "millwright/model/selector.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::model {

struct NodeOverlay {
  ObjectMeta meta;
  // Which offerings it is about: labels of the NodePool, of the instance type and of the offering.
  std::vector<SelectorRequirement> requirements;
  // At most one of the two. "0.5" per hour; "+0.1", "-0.1", "+10%", "-10%". Empty: untouched.
  std::string price;
  std::string price_adjustment;
  ResourceList capacity;
  std::int32_t weight = 0;  // the heaviest overlay wins
  std::vector<Condition> conditions;
  friend bool operator==(const NodeOverlay&, const NodeOverlay&) = default;
};

inline constexpr std::string_view kPriceOverlayAnnotation = "karpenter.sh/price-overlay-applied";
inline constexpr std::string_view kCapacityOverlayAnnotation =
    "karpenter.sh/capacity-overlay-applied";

}  // namespace millwright::model
