// NodeOverlay (karpenter.sh/v1alpha1): overrides the price that the cloud states for instance
// types, and adds extended resources that their nodes will have.
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
  // Selects offerings by the labels of the NodePool, the instance type and the offering.
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
