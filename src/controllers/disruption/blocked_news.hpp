// Chooses which nodes get an event about why they stay. Decisions are made every few seconds;
// events must be rarer.
#pragma once

#include "controllers/process/pace.hpp"
#include "millwright/disruption/decide.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::controllers {

// As in Karpenter, the same thing is said of a node once in fifteen minutes. At most five nodes are
// told each second (fifty at once), in turn: a node gets two events, and half of what the event
// sink can send is left to news of pods.
class BlockedNews {
 public:
  // Those to be told now. They count as told. `blocked` is sorted by claim, as in Decisions.
  std::vector<const disruption::Blocked*> due(const std::vector<disruption::Blocked>& blocked,
                                              base::TimePoint now);

 private:
  struct Told {
    disruption::Kept kept;
    disruption::Cause cause;
    base::TimePoint when;
  };
  void forget_before(base::TimePoint time);
  bool is_told(const disruption::Blocked& blocked) const;

  std::map<std::string, std::vector<Told>, std::less<>> told_;  // by claim
  std::string last_;                                            // the claim told last
  Pace pace_{5, 50};
};

}  // namespace millwright::controllers
