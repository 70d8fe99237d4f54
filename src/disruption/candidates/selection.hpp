// Which candidates may go for a reason, apart from what their going would cost.
#pragma once

#include "disruption/survey.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::disruption {

// How many nodes each pool may still lose for one reason, as commands take them.
class Allowance {
 public:
  Allowance(const Survey& survey, Reason reason) : survey_(survey), reason_(reason) {}
  // False once the pool's budgets are used up.
  bool take(const model::NodePool& pool);
  bool any_left(const model::NodePool& pool) { return left_of(pool) > 0; }

 private:
  int& left_of(const model::NodePool& pool);

  const Survey& survey_;
  Reason reason_;
  std::map<std::string_view, int> left_;
};

// Why the candidate's emptiness does not end it now; nullopt when it does.
std::optional<Why> not_removable_as_empty(const Candidate& candidate);
// Why consolidation does not look at a candidate with pods; nullopt when it does.
std::optional<Why> ineligible(const Candidate& candidate);
// What keeps the candidate from this kind of disruption besides budgets: its pods, unless drift
// may override them because the claim has a terminationGracePeriod.
const Obstacle* pods_that_keep(const Candidate& candidate, Reason reason);

// For Reason::Empty the empty candidates, for Reason::Underutilized the others: those that may go,
// best savings ratio first. Blocks the rest with their reason.
std::vector<const Candidate*> eligible_candidates(Survey& survey, Reason reason);

}  // namespace millwright::disruption
