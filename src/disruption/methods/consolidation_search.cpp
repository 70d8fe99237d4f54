// Which groups of nodes are tried, and in which order.
#include "disruption/candidates/selection.hpp"
#include "disruption/methods/consolidation.hpp"

#include <algorithm>
#include <map>

namespace millwright::disruption {
namespace {

constexpr std::size_t kMaxGroup = 100;
constexpr std::size_t kFew = 8;
constexpr double kCent = 0.01;
// How long one part of a long list is looked at before the next has its turn.
constexpr base::Duration kTurn = std::chrono::seconds(10);

// At most as many of each pool as its budgets let go.
std::vector<const Candidate*> within_budgets(Survey& survey,
                                             std::vector<const Candidate*> candidates) {
  Allowance allowance(survey, Reason::Underutilized);
  std::erase_if(candidates, [&](const auto* each) { return !allowance.take(*each->pool); });
  return candidates;
}

// One of each pool in turn, so that a large pool does not hide a small one.
std::vector<const Candidate*> interleaved(const std::vector<const Candidate*>& candidates) {
  std::vector<std::vector<const Candidate*>> by_pool;
  std::map<std::string_view, std::size_t> positions;
  for (const auto* candidate : candidates) {
    const auto [found, is_new] = positions.try_emplace(candidate->pool->meta.name, by_pool.size());
    if (is_new) {
      by_pool.emplace_back();
    }
    by_pool[found->second].push_back(candidate);
  }
  std::vector<const Candidate*> result;
  for (std::size_t round = 0; result.size() < candidates.size(); ++round) {
    for (const auto& pool : by_pool) {
      if (round < pool.size()) {
        result.push_back(pool[round]);
      }
    }
  }
  return result;
}

// The best half of what one pass may look at, and a part of the rest that moves on with time, so
// that hopeless candidates at the front do not hide good ones at the back for ever.
std::vector<const Candidate*> one_turn(std::vector<const Candidate*> candidates, std::size_t most,
                                       base::TimePoint now) {
  if (candidates.size() <= most) {
    return candidates;
  }
  const std::size_t best = (most + 1) / 2;
  const std::size_t moving = most - best;
  const std::size_t rest = candidates.size() - best;
  std::vector<const Candidate*> turn(candidates.begin(),
                                     candidates.begin() + static_cast<std::ptrdiff_t>(best));
  const auto turns = static_cast<std::size_t>(now.time_since_epoch() / kTurn);
  for (std::size_t i = 0; i < moving; ++i) {
    turn.push_back(candidates[best + (turns * moving + i) % rest]);
  }
  return turn;
}

}  // namespace

std::optional<Command> consolidate_many(Survey& survey) {
  auto candidates = within_budgets(survey, eligible_candidates(survey, Reason::Underutilized));
  candidates.resize(std::min(candidates.size(), kMaxGroup));
  const auto attempt = [&](std::size_t size) {
    return consolidate(survey, Candidates(candidates).first(size)).command;
  };
  // Larger groups are not always harder: three small nodes may fit one medium where two do not pay.
  // Few candidates are tried one size after the other, many by Karpenter's binary search, the whole
  // first.
  std::size_t least = 2;
  std::size_t most = candidates.size();
  for (int tries = 0; most >= least && (candidates.size() <= kFew || tries == 0); ++tries) {
    if (auto command = attempt(most--)) {
      return command;
    }
  }
  std::optional<Command> best;
  while (least <= most) {
    const auto size = least + (most - least) / 2;
    if (auto command = attempt(size)) {
      // More nodes moved for the same money is no gain.
      if (!best || command->savings > best->savings + kCent) {
        best = std::move(command);
      }
      least = size + 1;
    } else {
      most = size - 1;
    }
  }
  return best;
}

std::optional<Command> consolidate_one(Survey& survey) {
  const auto candidates =
      one_turn(interleaved(eligible_candidates(survey, Reason::Underutilized)),
               survey.input().options.max_single_node_candidates, survey.input().now);
  for (const auto* candidate : candidates) {
    if (survey.budgets().of(*candidate->pool, Reason::Underutilized) == 0) {
      survey.findings().block_by_budget(*candidate, Reason::Underutilized);
      continue;
    }
    auto result = consolidate(survey, Candidates(&candidate, 1));
    if (result.command) {
      return std::move(result.command);
    }
    survey.findings().block(candidate->claim_name(), *std::move(result.problem),
                            Kept::FromConsolidation);
  }
  return std::nullopt;
}

}  // namespace millwright::disruption
