// Applies NodeOverlays to the catalog and keeps their conditions (Karpenter's nodeoverlay
// controller, feature gate NodeOverlay).
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"
#include "millwright/scheduling/overlays.hpp"

#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

// The catalog with overlays applied, kept until overlays, pools or the cloud's catalog change: the
// planner indexes each list of types once and must see the same object again. Loop thread only.
class OverlayCache {
 public:
  struct Problem {
    std::string reason;  // RuntimeValidation or Conflict
    std::string message;
  };

  const scheduling::OverlaidCatalog& apply(const scheduling::Snapshot& snapshot,
                                           const scheduling::Catalog& base);
  // What the latest apply() changed about the type; nullptr when nothing.
  const scheduling::OverlayChange* change(std::string_view pool, std::string_view type) const;
  // Whether some type of the pool has the resource from an overlay, as of the latest apply().
  bool provides(std::string_view pool, std::string_view resource) const;
  // Why overlays are ignored, by their name, as of the latest apply().
  const std::map<std::string, Problem, std::less<>>& problems() const { return problems_; }

 private:
  bool is_current(const scheduling::Snapshot& snapshot, const scheduling::Catalog& base) const;

  std::vector<std::shared_ptr<const model::NodeOverlay>> overlays_;
  std::map<std::string, model::StringMap, std::less<>> pool_labels_;
  scheduling::Catalog base_;
  bool applied_ = false;
  scheduling::OverlaidCatalog result_;
  std::map<std::string, Problem, std::less<>> problems_;
};

// Writes the conditions of every overlay. services.overlays must be set.
class NodeOverlays {
 public:
  explicit NodeOverlays(Services& services);
  // Overlays, pools or what the clouds sell changed.
  void enqueue() { reconciler_.enqueue("all"); }
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile();
  base::Task<base::Result<>> write_conditions(std::shared_ptr<const model::NodeOverlay> overlay);

  Services& services_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
