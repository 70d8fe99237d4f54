// Which of the nodes that stay are told why, when decisions about them are made every few seconds.
#pragma once

#include "controllers/pace.hpp"
#include "millwright/disruption/decide.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::controllers {

// As Karpenter does, the same thing is said of the same node once in fifteen minutes. And since on
// a cluster of thousands every node may have something to be told, five nodes are told each second,
// fifty at once, each in its turn: two events for each leave half of what the event sink sends to
// news of pods.
class BlockedNews {
 public:
  // Those to be told now; they count as told. `blocked` is sorted by claim, as decisions are.
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
