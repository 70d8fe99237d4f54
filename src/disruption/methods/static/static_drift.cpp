#include "disruption/methods/static/static_drift.hpp"

#include "disruption/candidates/selection.hpp"
#include "millwright/disruption/static_capacity.hpp"
#include "millwright/scheduling/static_claims.hpp"

#include <algorithm>
#include <map>

namespace millwright::disruption {

namespace {

// Replacements that spec.limits.nodes leaves room for; none while the pool is out of balance or
// an earlier replacement is under way: its new node would be taken for surplus.
std::int64_t replaceable_now(const Survey& survey, const model::NodePool& pool) {
  const auto& snapshot = *survey.input().snapshot;
  const auto count = count_static(pool, snapshot);
  if (count.active + count.being_replaced > *pool.replicas) {
    return 0;
  }
  return room_under_limit(pool, count);
}

bool any_busy(const Survey& survey, const model::NodePool& pool) {
  const auto& input = survey.input();
  return std::any_of(input.snapshot->nodes.begin(), input.snapshot->nodes.end(),
                     [&](const auto& record) {
                       return record->claim && record->node_pool() == pool.meta.name &&
                              input.busy_claims.contains(record->claim_name());
                     });
}

std::optional<Why> reason_to_wait(const Survey& survey, const model::NodePool& pool) {
  if (any_busy(survey, pool)) {
    return Why{Cause::ReplacementUnderWay,
               "another node of static NodePool " + pool.meta.name + " is being replaced"};
  }
  if (replaceable_now(survey, pool) == 0) {
    return Why{Cause::NodeLimit,
               "static NodePool " + pool.meta.name +
                   " has no room for a replacement: it has more nodes than spec.replicas, or "
                   "spec.limits.nodes is reached"};
  }
  return std::nullopt;
}

}  // namespace

bool may_replace_static(const Survey& survey, const Candidate& candidate) {
  return survey.input().options.static_capacity && candidate.drifted() != nullptr &&
         replaceable_now(survey, *candidate.pool) > 0;
}

std::vector<Command> replace_static_drifted(Survey& survey) {
  std::vector<const Candidate*> drifted;
  for (const auto& candidate : survey.candidates()) {
    if (candidate.pool->replicas && candidate.drifted() != nullptr) {
      drifted.push_back(&candidate);
    }
  }
  const auto since = [](const Candidate* candidate) {
    return candidate->drifted()->last_transition_time.value_or(base::TimePoint::min());
  };
  std::stable_sort(drifted.begin(), drifted.end(),
                   [&](const auto* a, const auto* b) { return since(a) < since(b); });
  std::vector<Command> commands;
  Allowance allowance(survey, Reason::Drifted);
  std::map<std::string_view, std::int64_t> left;  // by pool
  for (const auto* candidate : drifted) {
    const auto& pool = *candidate->pool;
    if (const auto* obstacle = pods_that_keep(*candidate, Reason::Drifted)) {
      survey.findings().wake_at(obstacle->until);
      survey.findings().block(candidate->claim_name(), {Cause::PodsKeepIt, obstacle->message});
      continue;
    }
    if (auto why = reason_to_wait(survey, pool)) {
      survey.findings().block(candidate->claim_name(), *std::move(why));
      continue;
    }
    auto& room = left.try_emplace(pool.meta.name, replaceable_now(survey, pool)).first->second;
    if (room == 0) {
      survey.findings().block(
          candidate->claim_name(),
          {Cause::NodeLimit, "spec.limits.nodes of NodePool " + pool.meta.name + " is reached"});
      continue;
    }
    if (!allowance.take(pool)) {
      survey.findings().block_by_budget(*candidate, Reason::Drifted);
      continue;
    }
    --room;
    Command command{.reason = Reason::Drifted, .claims = {candidate->claim_name()}};
    command.replacements.push_back(scheduling::static_claim(pool));
    // The replacement is like the node: it takes over the room that the node keeps for buffers.
    for (const auto& pod : candidate->virtual_pods) {
      command.replacements.back().pod_uids.push_back(pod->meta.uid);
    }
    command.summary = "Drifted: replace static node " + candidate->record->name() + " (" +
                      candidate->instance_type + ") of NodePool " + pool.meta.name;
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace millwright::disruption
