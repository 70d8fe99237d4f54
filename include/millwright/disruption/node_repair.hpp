// Which nodes are broken, and when one may be replaced for it (Karpenter's node.health). Pure: the
// clouds' policies come in.
#pragma once

#include "millwright/model/repair_policy.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::disruption {

struct Ailment {
  std::string condition;  // its type: "Ready"
  base::TimePoint due;    // from then on the node is to be replaced
};

// Of the node's conditions that a policy names, the one that is due first; nullopt: the node is
// well. A condition that does not say since when it holds does so since the node's creation.
std::optional<Ailment> find_ailment(const model::Node& node, model::RepairPolicies policies);

// How many nodes there are and how many of them are broken, however short a time for.
struct HealthCount {
  std::size_t nodes = 0;
  std::size_t broken = 0;

  // A fifth of them, rounded up. When more are broken, the cause is hardly the nodes themselves,
  // and new ones would break as well.
  std::size_t tolerated() const { return (nodes + 4) / 5; }
  bool too_many_broken() const { return broken > tolerated(); }
};

// As one cloud's policies see the nodes of a snapshot.
class NodeHealth {
 public:
  NodeHealth(const scheduling::Snapshot& snapshot, model::RepairPolicies policies);
  // Of the Nodes with the pool's label, with a NodeClaim or without.
  HealthCount of_pool(std::string_view pool) const;
  // Of all Nodes, those that nobody manages included.
  HealthCount of_cluster() const { return cluster_; }

 private:
  HealthCount cluster_;
  std::map<std::string, HealthCount, std::less<>> by_pool_;
};

// The pool's repairs keep to its budgets (annotation millwright.io/repair-within-budgets). Any
// value but "false" asks for it: a mistyped one must not end nodes. There is no such choice in
// Karpenter, whose repairs ignore budgets.
bool repairs_within_budgets(const model::NodePool& pool);
// Whether the pool's budgets let `broken` go now. Those count that are for all reasons: repair is
// none of the reasons that a budget can name. Nodes that are going already use them up; a node that
// is not Ready does not, as it does otherwise: if broken nodes did, they would keep each other.
bool budgets_allow_repair(const model::NodePool& pool, const scheduling::Snapshot& snapshot,
                          const scheduling::NodeRecord& broken, base::TimePoint now);

}  // namespace millwright::disruption
