// How far a static pool (NodePool spec.replicas) is from what it should be, and which nodes go when
// there are too many (Karpenter's static.provisioning and static.deprovisioning). Pure.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <vector>

namespace millwright::disruption {

// NodeClaims of one pool. One that is being replaced is not active, but counts until it is gone:
// its replacement is active already, or will be.
struct StaticCount {
  std::int64_t active = 0;
  std::int64_t being_replaced = 0;
  std::int64_t total = 0;  // those on their way out included; what limits.nodes is about
};
StaticCount count_static(const model::NodePool& pool, const scheduling::Snapshot& snapshot);
// How many more spec.limits.nodes admits.
std::int64_t room_under_limit(const model::NodePool& pool, const StaticCount& count);

struct StaticPlan {
  std::int64_t create = 0;
  std::int64_t withheld = 0;  // more would be wanted, but spec.limits.nodes is reached
  std::vector<scheduling::NodeRecordPtr> remove;
};

// Surplus goes in this order: claims without an instance, nodes without pods that anybody would
// miss, then those that are cheapest to disrupt, with a do-not-disrupt pod last. Budgets do not
// apply: somebody asked for fewer. Nothing for a pool without replicas or one that is being
// deleted; a pool that is not Ready does not grow.
StaticPlan plan_static_capacity(const model::NodePool& pool, const scheduling::Snapshot& snapshot,
                                base::TimePoint now);

}  // namespace millwright::disruption
