#include "disruption/findings.hpp"

#include "disruption/candidates/budgets.hpp"

#include <algorithm>

namespace millwright::disruption {

void Findings::block(const std::string& claim, Why why, Kept kept) {
  blocked_.try_emplace(claim, Blocked{.claim = claim, .kept = kept, .why = std::move(why)});
}

void Findings::block_by_budget(const Candidate& candidate, Reason reason) {
  const std::string& pool = candidate.pool->meta.name;
  const auto kept = reason == Reason::Drifted ? Kept::FromDisruption : Kept::FromConsolidation;
  if (auto closed = candidate.preferences->closed(reason, now_)) {
    wake_at(closed->until);
    block(candidate.claim_name(), {Cause::OutsideWindows, std::move(closed->message)}, kept);
    return;
  }
  block(candidate.claim_name(),
        {Cause::Budget, "the spec.disruption.budgets of NodePool " + pool + " allow no further " +
                            std::string(to_string(reason)) + " node to go now"},
        kept);
  spent_budgets_.insert({pool, reason});
  if (awaited_budgets_.insert(pool).second) {
    wake_at(next_budget_change(*candidate.pool, now_));
  }
}

void Findings::wake_at(std::optional<base::TimePoint> time) {
  if (time && *time > now_ && *time != base::TimePoint::max() && (!next_ || *time < *next_)) {
    next_ = time;
  }
}

void Findings::score(Score score) {
  const bool is_known = std::any_of(scores_.begin(), scores_.end(), [&](const Score& each) {
    return each.node_pool == score.node_pool && each.claims == score.claims;
  });
  if (!is_known) {
    scores_.push_back(std::move(score));
  }
}

void Findings::report(Decisions& decisions) const {
  std::set<std::string_view> chosen;
  for (const auto& command : decisions.commands) {
    chosen.insert(command.claims.begin(), command.claims.end());
  }
  for (const auto& [claim, blocked] : blocked_) {
    if (!chosen.contains(claim)) {
      decisions.blocked.push_back(blocked);
      auto& first = decisions.blocked.back().why.message.front();
      first = first >= 'a' && first <= 'z' ? static_cast<char>(first - 'a' + 'A') : first;
    }
  }
  decisions.spent_budgets.assign(spent_budgets_.begin(), spent_budgets_.end());
  decisions.scores = scores_;
  decisions.next_check = next_;
}

}  // namespace millwright::disruption
