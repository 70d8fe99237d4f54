// How far a static pool (NodePool spec.replicas) is from what it should be, and which nodes go when
// there are too many (Karpenter's static.provisioning and static.deprovisioning). Pure.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <vector>

namespace millwright::disruption {

// NodeClaims of one pool. A claim that is being replaced is not active: its replacement is, or will
// be.
struct StaticCount {
  std::int64_t active = 0;
  std::int64_t being_replaced = 0;
  std::int64_t total = 0;  // with those that are terminating; limits.nodes counts these
};
StaticCount count_static(const model::NodePool& pool, const scheduling::Snapshot& snapshot);
// How many more spec.limits.nodes admits.
std::int64_t room_under_limit(const model::NodePool& pool, const StaticCount& count);

struct StaticPlan {
  std::int64_t create = 0;
  std::int64_t withheld = 0;  // how many spec.limits.nodes keeps from being created
  std::vector<scheduling::NodeRecordPtr> remove;
};

// Surplus goes in this order: claims without an instance, empty nodes, the nodes that are cheapest
// to disrupt, nodes with a do-not-disrupt pod. Budgets do not apply, since somebody asked for fewer
// nodes. A pool without replicas or one that is being deleted gets an empty plan; a pool that is
// not Ready does not grow.
StaticPlan plan_static_capacity(const model::NodePool& pool, const scheduling::Snapshot& snapshot,
                                base::TimePoint now);

}  // namespace millwright::disruption
