#include "millwright/disruption/decide.hpp"

#include "disruption/candidates/selection.hpp"
#include "disruption/methods/consolidation/consolidation.hpp"
#include "disruption/methods/lookahead.hpp"
#include "disruption/methods/methods.hpp"
#include "disruption/methods/static/static_drift.hpp"
#include "disruption/simulation/same_shape.hpp"
#include "disruption/steps/steps_of.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace millwright::disruption {
namespace {

constexpr std::string_view kEmptyType = "empty";
constexpr std::string_view kManyType = "multi";
constexpr std::string_view kOneType = "single";

// Karpenter's order of methods; the first that finds something ends the pass, since the others
// would count on room and budget that it takes.
std::vector<Command> choose(Survey& survey) {
  const auto done = [&survey](Reason reason, std::string_view type) {
    if (survey.input().method_done) {
      survey.input().method_done(reason, type);
    }
  };
  std::vector<Command> commands;
  const auto first_of = [&](std::optional<Command> command) {
    if (commands.empty() && command) {
      commands.push_back(*std::move(command));
    }
  };
  first_of(remove_empty(survey));
  done(Reason::Empty, kEmptyType);
  if (commands.empty() && survey.input().options.static_capacity) {
    commands = replace_static_drifted(survey);
    done(Reason::Drifted, {});
  }
  if (commands.empty()) {
    first_of(replace_drifted(survey));
    done(Reason::Drifted, {});
  }
  if (commands.empty()) {
    first_of(begin_best_course(survey, consolidate_many(survey)));
    done(Reason::Underutilized, kManyType);
  }
  if (commands.empty()) {
    std::vector<Command> options;
    if (auto one = consolidate_one(survey)) {
      options.push_back(*std::move(one));
    }
    first_of(begin_best_course(survey, std::move(options)));
    done(Reason::Underutilized, kOneType);
  }
  return commands;
}

// The claims' candidates, or nothing when one of them may no longer go.
std::vector<const Candidate*> candidates_of(const Survey& survey, const Command& command) {
  std::vector<const Candidate*> found;
  for (const auto& claim : command.claims) {
    const auto* candidate = survey.find(claim);
    if (candidate == nullptr || pods_that_keep(*candidate, command.reason) != nullptr) {
      return {};
    }
    found.push_back(candidate);
  }
  return found;
}

bool within_budgets(const Survey& survey, const std::vector<const Candidate*>& candidates,
                    Reason reason) {
  std::map<const model::NodePool*, int> wanted;
  for (const auto* candidate : candidates) {
    ++wanted[candidate->pool.get()];
  }
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& item) {
    return item.second <= survey.budgets().of(*item.first, reason);
  });
}

bool still_for(const Candidate& candidate, Reason reason) {
  switch (reason) {
    case Reason::Empty:
      return candidate.empty() && !not_removable_as_empty(candidate);
    case Reason::Drifted:
      return candidate.drifted() != nullptr;
    case Reason::Underutilized:
      return !candidate.empty() && !ineligible(candidate);
  }
  return false;
}

// The command knows a place for all the room that the candidates keep for buffers.
bool moves_all_room(const Command& command, const std::vector<const Candidate*>& candidates) {
  const auto is_placed = [&](const scheduling::PodPtr& pod) {
    return std::any_of(command.placements.begin(), command.placements.end(),
                       [&](const auto& each) { return each.pod_uid == pod->meta.uid; });
  };
  return std::all_of(candidates.begin(), candidates.end(), [&](const auto* candidate) {
    return std::all_of(candidate->virtual_pods.begin(), candidate->virtual_pods.end(), is_placed);
  });
}

// Those of the claims' candidates that may go as they were meant to, each for itself.
std::vector<const Candidate*> still_empty(const Survey& survey, const Command& command) {
  std::vector<const Candidate*> found;
  Allowance allowance(survey, Reason::Empty);
  for (const auto& claim : command.claims) {
    const auto* candidate = survey.find(claim);
    if (candidate != nullptr && pods_that_keep(*candidate, Reason::Empty) == nullptr &&
        still_for(*candidate, Reason::Empty) && allowance.take(*candidate->pool)) {
      found.push_back(candidate);
    }
  }
  return found;
}

// Of a command whose nodes go together or not at all.
bool holds(const Survey& survey, const Command& command) {
  const auto candidates = candidates_of(survey, command);
  if (candidates.empty() || !within_budgets(survey, candidates, command.reason) ||
      !std::all_of(candidates.begin(), candidates.end(),
                   [&](const auto* candidate) { return still_for(*candidate, command.reason); })) {
    return false;
  }
  if (command.reason == Reason::Drifted && candidates.front()->pool->replicas) {
    return may_replace_static(survey, *candidates.front());
  }
  using Wanted = std::span<const scheduling::Placement>;
  const auto would_be_planned = [&](Planning planning, Wanted wanted = {}) {
    return same_shape(command.reason, command.replacements,
                      simulate_removal(survey, candidates, command.reason, planning, wanted));
  };
  // It may have been any of these ways of planning that suited best.
  return moves_all_room(command, candidates) &&
         (would_be_planned(Planning::Cheapest) ||
          (command.reason == Reason::Underutilized &&
           (would_be_planned(Planning::OnePass) ||
            would_be_planned(Planning::Cheapest, command.placements))));
}

std::array<std::size_t, 3> count_eligible(const Survey& survey) {
  std::array<std::size_t, 3> counts{};
  for (const auto& candidate : survey.candidates()) {
    for (const auto reason : {Reason::Empty, Reason::Drifted, Reason::Underutilized}) {
      if (still_for(candidate, reason) && pods_that_keep(candidate, reason) == nullptr) {
        ++counts[static_cast<std::size_t>(reason)];
      }
    }
  }
  return counts;
}

std::vector<ProtectedPod> protected_pods(const Survey& survey) {
  std::vector<ProtectedPod> found;
  for (const auto& candidate : survey.candidates()) {
    if (!candidate.facts->any_annotated) {
      continue;
    }
    for (const auto& pod : candidate.record->pods) {
      if (auto protection = timed_protection(pod, survey.input().now)) {
        found.push_back(*std::move(protection));
      }
    }
  }
  return found;
}

}  // namespace

std::string_view consolidation_type(const Command& command) {
  switch (command.reason) {
    case Reason::Empty:
      return kEmptyType;
    case Reason::Drifted:
      return {};
    case Reason::Underutilized:
      break;
  }
  return command.claims.size() > 1 ? kManyType : kOneType;
}

Decisions decide(const Input& input) {
  Decisions decisions;
  if (!input.snapshot || !input.snapshot->synced) {
    return decisions;
  }
  if (input.memory) {
    input.memory->forget_all_but(*input.snapshot);
  }
  Survey survey(input, {});
  decisions.eligible = count_eligible(survey);
  decisions.commands = choose(survey);
  decisions.protected_pods = protected_pods(survey);
  survey.findings().report(decisions);
  return decisions;
}

Command what_holds(const Command& command, const Input& input) {
  if (!input.snapshot || !input.snapshot->synced) {
    return {};
  }
  const Survey survey(input, command.claims);
  Command held;
  if (command.reason == Reason::Empty) {
    held = remove_as_empty(still_empty(survey, command)).value_or(Command{});
  } else if (holds(survey, command)) {
    held = command;
  }
  if (!held.claims.empty()) {
    held.steps = steps_of(survey, candidates_of(survey, held), held);
    held.id = command.id;
    held.inputs = command.inputs;
    held.snapshot = command.snapshot;
  }
  return held;
}

}  // namespace millwright::disruption
