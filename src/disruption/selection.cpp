#include "disruption/selection.hpp"

#include <algorithm>

namespace millwright::disruption {

bool Allowance::take(const model::NodePool& pool) {
  const auto [found, is_new] = left_.try_emplace(pool.meta.name, 0);
  if (is_new) {
    found->second = survey_.remaining(pool, reason_);
  }
  return found->second-- > 0;
}

const Obstacle* pods_that_keep(const Candidate& candidate, Reason reason) {
  const bool may_override = reason == Reason::Drifted &&
                            candidate.record->claim->termination_grace_period.value().has_value();
  return candidate.pods_obstacle && !may_override ? &*candidate.pods_obstacle : nullptr;
}

std::string not_removable_as_empty(const Candidate& candidate) {
  const auto& pool = *candidate.pool;
  if (pool.replicas) {
    return "NodePool " + pool.meta.name + " keeps a fixed number of nodes";
  }
  if (candidate.empty() && candidate.buffered) {
    return "it keeps room for a CapacityBuffer";
  }
  if (candidate.consolidatable.value) {
    return {};
  }
  if (candidate.consolidatable.next) {
    return "its pods changed within consolidateAfter (" + pool.consolidate_after.text +
           "); it may go at " + base::format_rfc3339(*candidate.consolidatable.next);
  }
  return "NodePool " + pool.meta.name + " has consolidateAfter Never";
}

std::string ineligible(const Candidate& candidate) {
  auto reason = not_removable_as_empty(candidate);
  if (!reason.empty()) {
    return reason;
  }
  if (candidate.pool->consolidation_policy == "WhenEmpty") {
    return "NodePool " + candidate.pool->meta.name + " removes nodes only when they are empty";
  }
  if (!candidate.priced) {
    return "its instance type, zone and capacity type name no offering that its NodePool sells";
  }
  return {};
}

std::vector<const Candidate*> eligible_candidates(Survey& survey, Reason reason) {
  std::vector<const Candidate*> eligible;
  for (const auto& candidate : survey.candidates()) {
    const bool drifted_static = survey.input().options.static_capacity &&
                                candidate.pool->replicas && candidate.drifted() != nullptr;
    // Why a drifted static node stays is for its own method to say.
    if (candidate.empty() != (reason == Reason::Empty) || drifted_static) {
      continue;
    }
    auto why_not =
        reason == Reason::Empty ? not_removable_as_empty(candidate) : ineligible(candidate);
    const auto* obstacle = pods_that_keep(candidate, reason);
    if (!why_not.empty()) {
      survey.wake_at(candidate.consolidatable.next);
      survey.block(candidate.claim_name(), std::move(why_not));
    } else if (obstacle != nullptr) {
      survey.wake_at(obstacle->until);
      survey.block(candidate.claim_name(), obstacle->message);
    } else {
      eligible.push_back(&candidate);
    }
  }
  std::stable_sort(eligible.begin(), eligible.end(), [](const auto* a, const auto* b) {
    return a->savings_ratio() > b->savings_ratio();
  });
  return eligible;
}

}  // namespace millwright::disruption
