// When a pod was last bound to a claim's node, ended there or left it: status.lastPodEventTime, the
// clock of consolidateAfter (Karpenter's nodeclaim.podevents). Loop thread only.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "millwright/controllers/reconciler.hpp"

#include <map>
#include <string>
#include <string_view>

namespace millwright::controllers {

class PodEvents {
 public:
  void note(const std::string& claim, base::TimePoint when) { unwritten_[claim] = when; }
  void forget(std::string_view claim);

  // Writes what was noted about the claim, at most once in ten seconds.
  struct Written {
    ClaimPtr claim;
    Requeue again;  // when the rest may be written
  };
  base::Task<base::Result<Written>> write(Services& services, ClaimPtr claim);

 private:
  std::map<std::string, base::TimePoint, std::less<>> unwritten_;  // by claim
};

}  // namespace millwright::controllers
