#include "disruption/candidates/selection.hpp"

#include "millwright/disruption/protection.hpp"

#include <algorithm>

namespace millwright::disruption {

int& Allowance::left_of(const model::NodePool& pool) {
  const auto [found, is_new] = left_.try_emplace(pool.meta.name, 0);
  if (is_new) {
    found->second = survey_.budgets().of(pool, reason_);
  }
  return found->second;
}

bool Allowance::take(const model::NodePool& pool) {
  int& left = left_of(pool);
  if (left <= 0) {
    return false;
  }
  --left;
  return true;
}

const Obstacle* pods_that_keep(const Candidate& candidate, Reason reason) {
  return candidate.pods_obstacle && !overrides_pods(*candidate.record, reason)
             ? &*candidate.pods_obstacle
             : nullptr;
}

namespace {

Kept kept_by(Cause cause) {
  return cause == Cause::FixedSize || cause == Cause::WithinConsolidateAfter
             ? Kept::AsWanted
             : Kept::FromConsolidation;
}

// Which of the labels that name an offering it lacks, or that there is no such offering.
std::string without_price(const Candidate& candidate) {
  const auto& labels = candidate.record->labels();
  for (const auto key : {model::kInstanceTypeLabel, model::kCapacityTypeLabel, model::kZoneLabel}) {
    if (labels.find(key) == labels.end()) {
      return "its node has no label " + std::string(key) + ", so that its price is not known";
    }
  }
  return "its instance type, zone and capacity type name no offering that its NodePool sells";
}

std::optional<Why> still_moving(const Candidate& candidate) {
  if (!candidate.unsettled_until) {
    return std::nullopt;
  }
  const bool waits_for_others = candidate.unsettled_until > candidate.settles_at;
  return Why{Cause::WithinConsolidateAfter,
             (waits_for_others ? "pods of other nodes of its NodePool have just changed; it may be "
                                 "consolidated together with them at "
                               : "its pods have just changed; it may be consolidated at ") +
                 base::format_rfc3339(*candidate.unsettled_until)};
}

std::optional<Why> because(Cause cause, const std::optional<Obstacle>& obstacle) {
  return obstacle ? std::optional(Why{cause, obstacle->message}) : std::nullopt;
}

// When what makes the candidate ineligible may be over.
void wake_for(Findings& findings, const Candidate& candidate) {
  findings.wake_at(candidate.consolidatable.next);
  findings.wake_at(candidate.unsettled_until);
  for (const auto* obstacle : {&candidate.node_too_young, &candidate.pods_too_young}) {
    if (*obstacle) {
      findings.wake_at((*obstacle)->until);
    }
  }
}

}  // namespace

std::optional<Why> not_removable_as_empty(const Candidate& candidate) {
  const auto& pool = *candidate.pool;
  if (pool.replicas) {
    return Why{Cause::FixedSize, "NodePool " + pool.meta.name + " keeps a fixed number of nodes"};
  }
  if (candidate.consolidatable.value) {
    if (auto moving = still_moving(candidate)) {
      return moving;
    }
    return because(Cause::NodeTooYoung, candidate.node_too_young);
  }
  if (candidate.consolidatable.next) {
    return Why{Cause::WithinConsolidateAfter,
               "its pods changed within consolidateAfter (" + pool.consolidate_after.text +
                   "); it may go at " + base::format_rfc3339(*candidate.consolidatable.next)};
  }
  return Why{Cause::ConsolidationOff, "NodePool " + pool.meta.name + " has consolidateAfter Never"};
}

std::optional<Why> ineligible(const Candidate& candidate) {
  if (auto why = not_removable_as_empty(candidate)) {
    return why;
  }
  if (candidate.pool->consolidation_policy == "WhenEmpty") {
    if (candidate.pods().empty()) {
      return Why{Cause::BufferRoom, "it keeps room for a CapacityBuffer"};
    }
    return Why{Cause::OnlyWhenEmpty,
               "NodePool " + candidate.pool->meta.name + " removes nodes only when they are empty"};
  }
  if (!candidate.priced) {
    return Why{Cause::NotPriced, without_price(candidate)};
  }
  if (candidate.evictions.lost_work > candidate.cost()) {
    return Why{Cause::WorkLost,
               "pods of Jobs would begin again: the work that they would lose has "
               "cost more than the node costs in an hour"};
  }
  if (auto why = because(Cause::TooFull, candidate.too_full)) {
    return why;
  }
  return because(Cause::PodsTooYoung, candidate.pods_too_young);
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
    if (why_not) {
      const auto kept = kept_by(why_not->cause);
      wake_for(survey.findings(), candidate);
      survey.findings().block(candidate.claim_name(), *std::move(why_not), kept);
    } else if (obstacle != nullptr) {
      survey.findings().wake_at(obstacle->until);
      survey.findings().block(candidate.claim_name(), {Cause::PodsKeepIt, obstacle->message});
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
