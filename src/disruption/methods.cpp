#include "disruption/methods.hpp"

#include "disruption/consolidation.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace millwright::disruption {
namespace {

// How many nodes each pool may still lose for one reason, as commands take them.
class Allowance {
 public:
  Allowance(const Survey& survey, Reason reason) : survey_(survey), reason_(reason) {}
  bool take(const model::NodePool& pool) {
    const auto [found, is_new] = left_.try_emplace(pool.meta.name, 0);
    if (is_new) {
      found->second = survey_.remaining(pool, reason_);
    }
    return found->second-- > 0;
  }

 private:
  const Survey& survey_;
  Reason reason_;
  std::map<std::string_view, int> left_;
};

}  // namespace

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
  if (candidate.consolidatable.value) {
    return {};
  }
  if (candidate.consolidatable.next) {
    return "its pods changed within consolidateAfter (" + pool.consolidate_after.text +
           "); it may go at " + base::format_rfc3339(*candidate.consolidatable.next);
  }
  return "NodePool " + pool.meta.name + " has consolidateAfter Never";
}

std::vector<Command> remove_empty(Survey& survey) {
  std::vector<const Candidate*> empty;
  for (const auto& candidate : survey.candidates()) {
    if (!candidate.empty()) {
      continue;
    }
    auto reason = not_removable_as_empty(candidate);
    const auto* obstacle = pods_that_keep(candidate, Reason::Empty);
    if (!reason.empty()) {
      survey.wake_at(candidate.consolidatable.next);
      survey.block(candidate.claim_name(), std::move(reason));
    } else if (obstacle != nullptr) {
      survey.wake_at(obstacle->until);
      survey.block(candidate.claim_name(), obstacle->message);
    } else {
      empty.push_back(&candidate);
    }
  }
  std::stable_sort(empty.begin(), empty.end(), [](const auto* a, const auto* b) {
    return a->savings_ratio() > b->savings_ratio();
  });
  std::vector<Command> commands;
  Allowance allowance(survey, Reason::Empty);
  for (const auto* candidate : empty) {
    if (!allowance.take(*candidate->pool)) {
      survey.block_by_budget(*candidate, Reason::Empty);
      continue;
    }
    Command command{
        .reason = Reason::Empty, .claims = {candidate->claim_name()}, .savings = candidate->price};
    command.summary = summarize(command, Candidates(&candidate, 1));
    commands.push_back(std::move(command));
  }
  return commands;
}

std::optional<Command> replace_drifted(Survey& survey) {
  std::vector<const Candidate*> drifted;
  for (const auto& candidate : survey.candidates()) {
    if (candidate.drifted() == nullptr || candidate.pool->replicas) {
      continue;
    }
    if (const auto* obstacle = pods_that_keep(candidate, Reason::Drifted)) {
      survey.wake_at(obstacle->until);
      survey.block(candidate.claim_name(), obstacle->message);
      continue;
    }
    drifted.push_back(&candidate);
  }
  const auto order = [](const Candidate* candidate) {
    return std::tuple(!candidate->pods.empty(),
                      candidate->drifted()->last_transition_time.value_or(base::TimePoint::min()));
  };
  std::stable_sort(drifted.begin(), drifted.end(),
                   [&](const auto* a, const auto* b) { return order(a) < order(b); });
  for (const auto* candidate : drifted) {
    if (survey.remaining(*candidate->pool, Reason::Drifted) == 0) {
      survey.block_by_budget(*candidate, Reason::Drifted);
      continue;
    }
    auto outcome = simulate_removal(survey, Candidates(&candidate, 1), Destinations::All);
    if (!outcome.problem.empty()) {
      survey.block(candidate->claim_name(), std::move(outcome.problem));
      continue;
    }
    Command command{.reason = Reason::Drifted, .claims = {candidate->claim_name()}};
    command.savings = candidate->price;
    for (const auto& claim : outcome.claims) {
      command.savings -= claim.price;
    }
    command.replacements = std::move(outcome.claims);
    command.placements = std::move(outcome.placements);
    command.summary = summarize(command, Candidates(&candidate, 1));
    return command;
  }
  return std::nullopt;
}

}  // namespace millwright::disruption
