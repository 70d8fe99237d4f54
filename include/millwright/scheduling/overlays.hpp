// NodeOverlays applied to what the clouds sell (Karpenter's nodeoverlay store): prices and extended
// resources that every plan then counts with. Pure.
//
// Overlays are looked at by weight, heaviest first, equal ones by name, the last name first. The
// first to set an offering's price or a type's resource wins. A later one of equal weight that
// sets the same price, or the same resource to another amount, is in conflict and counts nowhere.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

struct OverlayConflict {
  std::string overlay;
  std::string message;  // which other overlay it collides with, where, and what to do
};

// What overlays changed about an instance type of a pool.
struct OverlayChange {
  std::map<std::size_t, double> prices;  // by position of the offering
  model::ResourceList capacity;
  friend bool operator==(const OverlayChange&, const OverlayChange&) = default;
};

struct OverlaidCatalog {
  // Types of pools that no overlay concerns are the same objects as before.
  Catalog catalog;
  // By pool, then by instance type; only what was changed.
  std::map<std::string, std::map<std::string, OverlayChange, std::less<>>, std::less<>> changes;
  std::vector<OverlayConflict> conflicts;  // in the order the overlays were looked at
};

// `overlays` must be valid by their schema; those that are being deleted do not count. Pools that
// are not in `catalog` are left alone.
OverlaidCatalog apply_overlays(
    const Catalog& catalog, const std::vector<std::shared_ptr<const model::NodePool>>& pools,
    const std::vector<std::shared_ptr<const model::NodeOverlay>>& overlays);

// The offering's price under an overlay; `price` itself when the overlay does not speak of prices.
double overlaid_price(const model::NodeOverlay& overlay, double price);

}  // namespace millwright::scheduling
