#include "millwright/disruption/static_capacity.hpp"

#include "disruption/candidates/candidate.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace millwright::disruption {
namespace {

enum class Standing : std::uint8_t { Active, BeingReplaced, Gone };

Standing standing_of(const scheduling::NodeRecord& record) {
  const auto& claim = *record.claim;
  if (claim.meta.is_deleting() || model::is_true(claim.conditions, model::kInstanceTerminating)) {
    return Standing::Gone;
  }
  return record.marked_for_deletion || model::is_true(claim.conditions, model::kDisruptionReason)
             ? Standing::BeingReplaced
             : Standing::Active;
}

bool is_protected(const model::Pod& pod, base::TimePoint now) {
  return !model::is_terminal(pod) && !pod.meta.is_deleting() &&
         do_not_disrupt_until(pod, now).has_value();
}

bool is_empty(const scheduling::NodeRecord& record, base::TimePoint now) {
  return std::all_of(record.pods.begin(), record.pods.end(), [&](const auto& pod) {
    return model::is_owned_by_daemonset(*pod) && !is_protected(*pod, now);
  });
}

// The part of its life that the node has before it: what is about to expire is no loss.
double lifetime_left(const model::NodeClaim& claim, base::TimePoint now) {
  const auto life = claim.expire_after.value();
  if (!life || *life <= base::Duration::zero() || !claim.meta.creation_timestamp) {
    return 1;
  }
  const std::chrono::duration<double> age = now - *claim.meta.creation_timestamp;
  const std::chrono::duration<double> whole = *life;
  return std::clamp((whole - age) / whole, 0.0, 1.0);
}

// Lower goes first.
std::tuple<int, bool, double, std::string_view> rank(const scheduling::NodeRecord& record,
                                                     base::TimePoint now) {
  if (record.claim->provider_id.empty()) {
    return {0, false, 0, record.claim_name()};
  }
  if (is_empty(record, now)) {
    return {1, false, 0, record.claim_name()};
  }
  double cost = 1;
  bool any_protected = false;
  for (const auto& pod : record.pods) {
    cost += scheduling::is_reschedulable(*pod) ? std::max(0.0, eviction_cost(*pod)) : 0;
    any_protected = any_protected || is_protected(*pod, now);
  }
  return {2, any_protected, cost * lifetime_left(*record.claim, now), record.claim_name()};
}

}  // namespace

std::int64_t room_under_limit(const model::NodePool& pool, const StaticCount& count) {
  if (pool.limits) {
    const auto limit = pool.limits->find(model::kNodes);
    if (limit != pool.limits->end()) {
      return std::max<std::int64_t>(0, limit->second.units() - count.total);
    }
  }
  return std::numeric_limits<std::int64_t>::max();
}

StaticCount count_static(const model::NodePool& pool, const scheduling::Snapshot& snapshot) {
  StaticCount count;
  for (const auto& record : snapshot.nodes) {
    if (!record->claim || record->node_pool() != pool.meta.name) {
      continue;
    }
    const auto standing = standing_of(*record);
    ++count.total;
    count.active += standing == Standing::Active ? 1 : 0;
    count.being_replaced += standing == Standing::BeingReplaced ? 1 : 0;
  }
  return count;
}

StaticPlan plan_static_capacity(const model::NodePool& pool, const scheduling::Snapshot& snapshot,
                                base::TimePoint now) {
  StaticPlan plan;
  if (!pool.replicas || pool.meta.is_deleting()) {
    return plan;
  }
  const auto count = count_static(pool, snapshot);
  const std::int64_t missing = *pool.replicas - count.active - count.being_replaced;
  if (missing > 0 && model::is_true(pool.conditions, model::kReady)) {
    plan.create = std::min(missing, room_under_limit(pool, count));
    plan.withheld = missing - plan.create;
    return plan;
  }
  const std::int64_t surplus = count.active - *pool.replicas;
  if (surplus <= 0) {
    return plan;
  }
  for (const auto& record : snapshot.nodes) {
    if (record->claim && record->node_pool() == pool.meta.name &&
        standing_of(*record) == Standing::Active) {
      plan.remove.push_back(record);
    }
  }
  std::sort(plan.remove.begin(), plan.remove.end(),
            [&](const auto& a, const auto& b) { return rank(*a, now) < rank(*b, now); });
  plan.remove.resize(static_cast<std::size_t>(surplus));
  return plan;
}

}  // namespace millwright::disruption
