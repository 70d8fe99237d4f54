// What one decision has to tell besides its commands: why nodes stay, how Balanced pools judged
// moves, and when to decide again.
#pragma once

#include "disruption/candidates/candidate.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::disruption {

class Findings {
 public:
  explicit Findings(base::TimePoint now) : now_(now) {}

  // Why the claim stays. The first reason given is kept.
  void block(const std::string& claim, Why why, Kept kept = Kept::FromDisruption);
  // The pool's budgets or windows let no further node go. Asks for another decision when they may.
  void block_by_budget(const Candidate& candidate, Reason reason);
  // A decision may differ from then on. Times that are past or never come are ignored.
  void wake_at(std::optional<base::TimePoint> time);
  // Of a move that is looked at more than once, the first.
  void score(Score score);

  // Adds everything noted to `decisions`, except about claims that its commands name.
  void report(Decisions& decisions) const;

 private:
  base::TimePoint now_;
  std::map<std::string, Blocked, std::less<>> blocked_;  // by claim
  std::set<SpentBudget> spent_budgets_;
  std::vector<Score> scores_;
  std::optional<base::TimePoint> next_;
  std::set<std::string_view> awaited_budgets_;  // pools whose next budget change is in next_
};

}  // namespace millwright::disruption
