// Which groups of nodes are tried, and in which order.
#include "disruption/candidates/selection.hpp"
#include "disruption/methods/consolidation/consolidation.hpp"
#include "disruption/methods/consolidation/removal_order.hpp"
#include "disruption/methods/consolidation/superfluous.hpp"
#include "disruption/methods/consolidation/sweep.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace millwright::disruption {
namespace {

constexpr std::size_t kMaxGroup = 100;
constexpr std::size_t kFew = 8;
constexpr std::size_t kMostSteps = 4;  // beyond Karpenter's own search
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

// Larger groups are not always harder: three small nodes may fit one medium where two do not pay.
class GroupSearch {
 public:
  GroupSearch(Survey& survey, const std::vector<const Candidate*>& candidates)
      : survey_(survey), candidates_(candidates) {}

  // A group that was found in another way.
  void offer(std::optional<Command> command) {
    if (command) {
      add(*std::move(command), 0);
    }
  }

  void try_all() {
    for (std::size_t size = candidates_.size(); size >= 2; --size) {
      attempt(size);
    }
  }

  // Karpenter's binary search for the largest group that one new node is enough for, so that what
  // it would find is found. The whole first.
  void bisect() {
    const std::size_t all = candidates_.size();
    const bool whole = attempt(all);
    if (whole && best_size_ == all && found_[best_].replacements.empty()) {
      return;  // all may go for nothing
    }
    for (std::size_t least = 2, most = all; least <= most;) {
      const auto size = least + (most - least) / 2;
      if (size == all ? whole : attempt(size)) {
        least = size + 1;
      } else {
        most = size - 1;
      }
    }
  }

  // One more or one less than the best of these, as long as that is better.
  void climb() {
    for (std::size_t steps = 0; best_size_ > 0 && steps < kMostSteps; ++steps) {
      const auto size = best_size_;
      attempt(size + 1);
      if (best_size_ == size) {
        attempt(size - 1);
      }
      if (best_size_ == size) {
        return;
      }
    }
  }

  // The best first.
  std::vector<Command> all() && {
    if (!found_.empty()) {
      std::swap(found_.front(), found_[best_]);
      const auto worth = [](const Command& each) { return each.savings - each.eviction_price; };
      std::stable_sort(found_.begin() + 1, found_.end(),
                       [&](const auto& a, const auto& b) { return worth(a) > worth(b); });
    }
    return std::move(found_);
  }

 private:
  // Whether one new node, or none, is enough for so many of the first candidates.
  bool attempt(std::size_t size) {
    if (size < 2 || size > candidates_.size() || !tried_.insert(size).second) {
      return false;
    }
    auto result = consolidate(survey_, Candidates(candidates_).first(size));
    if (result.command) {
      add(*std::move(result.command), size);
    }
    return result.with_one_node;
  }

  void add(Command command, std::size_t size) {
    const bool is_best = found_.empty() || is_better(command, found_[best_]);
    found_.push_back(std::move(command));
    if (is_best) {
      best_ = found_.size() - 1;
      best_size_ = size;
    }
  }

  Survey& survey_;
  const std::vector<const Candidate*>& candidates_;
  std::set<std::size_t> tried_;
  std::vector<Command> found_;
  std::size_t best_ = 0;
  std::size_t best_size_ = 0;  // how many of the first; 0: it is another group, or none
};

// Karpenter's binary search for the largest group that one new node is enough for, or none.
std::optional<Command> largest_group(Survey& survey,
                                     const std::vector<const Candidate*>& candidates) {
  std::optional<Command> found;
  for (std::size_t least = 2, most = candidates.size();
       least <= most && !survey.work().is_enough();) {
    const std::size_t size = least + (most - least) / 2;
    auto result = consolidate_with_one(survey, Candidates(candidates).first(size));
    if (result.command) {
      found = std::move(result.command);
      least = size + 1;
    } else {
      most = size - 1;
    }
  }
  return found;
}

std::optional<Command> first_single(Survey& survey,
                                    const std::vector<const Candidate*>& candidates) {
  for (const auto* candidate : candidates) {
    if (survey.work().is_enough()) {
      break;
    }
    const Candidates only(&candidate, 1);
    if (survey.staying().contains(candidate->record) ||
        survey.budgets().of(*candidate->pool, Reason::Underutilized) == 0 ||
        is_hopeless(survey, only, candidate->cost(), true)) {
      continue;
    }
    if (auto result = consolidate_with_one(survey, only); result.command) {
      return std::move(result.command);
    }
    if (candidate->virtual_pods.empty()) {
      survey.staying().insert(candidate->record);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Command> consolidate_many(Survey& survey) {
  const auto eligible = eligible_candidates(survey, Reason::Underutilized);
  auto candidates = within_budgets(survey, eligible);
  candidates.resize(std::min(candidates.size(), kMaxGroup));
  if (candidates.size() < 2) {
    return {};
  }
  GroupSearch search(survey, candidates);
  search.offer(sweep(survey, eligible));
  const auto order = removal_order(survey, eligible);
  search.offer(sweep(survey, order.nodes));
  search.offer(replace_superfluous(survey, order));
  if (candidates.size() <= kFew) {
    search.try_all();
  } else {
    search.bisect();
    search.climb();
  }
  return std::move(search).all();
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
    if (result.problem) {
      survey.findings().block(candidate->claim_name(), *std::move(result.problem),
                              Kept::FromConsolidation);
    }
  }
  return std::nullopt;
}

std::optional<Command> consolidate_as_karpenter(Survey& survey) {
  const auto eligible = eligible_candidates(survey, Reason::Underutilized);
  auto candidates = within_budgets(survey, eligible);
  candidates.resize(std::min(candidates.size(), kMaxGroup));
  auto command = largest_group(survey, candidates);
  return command ? std::move(command) : first_single(survey, eligible);
}

}  // namespace millwright::disruption
