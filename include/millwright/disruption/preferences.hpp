// What annotations of a NodePool ask of disruption beyond its spec (docs/disruption.md). Karpenter
// has none of these.
#pragma once

#include "millwright/disruption/pod_obstacles.hpp"
#include "millwright/disruption/windows.hpp"
#include "millwright/model/karpenter.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::disruption {

struct UnreadableAnnotation {
  std::string_view key;
  std::string problem;  // what is wrong, and what would be right
};

struct Preferences {
  Windows windows;  // for disruption; empty: at any time
  // Nodes that have expired wait for these windows. Where the annotation cannot be read there are
  // none, and they wait as long as is allowed (expiration.hpp).
  bool expiration_waits = false;
  Windows expiration_windows;
  // How old a node must be before it is consolidated, counted from its NodeClaim's creation, and
  // how long each of its pods must have been on it.
  base::Duration min_node_age{};
  base::Duration min_pod_age{};
  // What consolidation has to save: so much per hour, and such a part of the price of the nodes
  // that go. Empty nodes go for less.
  double min_savings = 0;
  double min_savings_share = 0;
  // A node of which a larger part is requested is not consolidated.
  std::optional<double> max_utilization;
  // What a node costs per hour beside its instance; nullopt: what Options::node_overhead says.
  std::optional<double> node_overhead;
  // scheduling::PoolOption::max_price_ratio; nullopt: what Options::max_price_ratio says.
  std::optional<double> max_price_ratio;
  // Node repair keeps to the pool's disruption budgets.
  bool repair_within_budgets = false;
  std::vector<UnreadableAnnotation> unreadable;

  // Why no node of the pool may go for this reason now. What somebody asked for and cannot be read
  // holds nodes back as well, unless it is about expiration: the pool's budgets are treated so too.
  std::optional<Obstacle> closed(Reason reason, base::TimePoint now) const;
};

Preferences parse_preferences(const model::StringMap& annotations);

// The keys of all such annotations.
std::vector<std::string_view> preference_annotations();

}  // namespace millwright::disruption
