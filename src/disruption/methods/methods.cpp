#include "disruption/methods/methods.hpp"

#include "disruption/methods/consolidation/consolidation.hpp"

#include <algorithm>
#include <tuple>

namespace millwright::disruption {

std::optional<Command> remove_as_empty(Candidates candidates) {
  if (candidates.empty()) {
    return std::nullopt;
  }
  Command command{.reason = Reason::Empty};
  for (const auto* candidate : candidates) {
    command.claims.push_back(candidate->claim_name());
    command.savings += candidate->price;
  }
  command.summary = summarize(command, candidates);
  return command;
}

std::optional<Command> remove_empty(Survey& survey) {
  auto empty = eligible_candidates(survey, Reason::Empty);
  Allowance allowance(survey, Reason::Empty);
  std::erase_if(empty, [&](const auto* candidate) {
    const bool may_go = allowance.take(*candidate->pool);
    if (!may_go) {
      survey.findings().block_by_budget(*candidate, Reason::Empty);
    }
    return !may_go;
  });
  return remove_as_empty(empty);
}

std::optional<Command> replace_drifted(Survey& survey) {
  std::vector<const Candidate*> drifted;
  for (const auto& candidate : survey.candidates()) {
    if (candidate.drifted() == nullptr || candidate.pool->replicas) {
      continue;
    }
    if (const auto* obstacle = pods_that_keep(candidate, Reason::Drifted)) {
      survey.findings().wake_at(obstacle->until);
      survey.findings().block(candidate.claim_name(), {Cause::PodsKeepIt, obstacle->message});
      continue;
    }
    drifted.push_back(&candidate);
  }
  const auto order = [](const Candidate* candidate) {
    return std::tuple(!candidate->pods().empty(),
                      candidate->drifted()->last_transition_time.value_or(base::TimePoint::min()));
  };
  std::stable_sort(drifted.begin(), drifted.end(),
                   [&](const auto* a, const auto* b) { return order(a) < order(b); });
  for (const auto* candidate : drifted) {
    if (survey.budgets().of(*candidate->pool, Reason::Drifted) == 0) {
      survey.findings().block_by_budget(*candidate, Reason::Drifted);
      continue;
    }
    auto removal = simulate_removal(survey, Candidates(&candidate, 1), Reason::Drifted);
    if (removal.problem) {
      survey.findings().block(candidate->claim_name(), *std::move(removal.problem));
      continue;
    }
    Command command{.reason = Reason::Drifted, .claims = {candidate->claim_name()}};
    command.savings = candidate->price;
    for (const auto& claim : removal.claims) {
      command.savings -= claim.price;
    }
    command.replacements = std::move(removal.claims);
    command.placements = std::move(removal.placements);
    command.summary = summarize(command, Candidates(&candidate, 1));
    return command;
  }
  return std::nullopt;
}

}  // namespace millwright::disruption
