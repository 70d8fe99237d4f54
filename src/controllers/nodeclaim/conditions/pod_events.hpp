// When a pod was last bound to a claim's node, ended there or left it: status.lastPodEventTime, the
// clock of consolidateAfter (Karpenter's nodeclaim.podevents). Loop thread only.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "millwright/controllers/reconciler.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::controllers {

class PodEvents {
 public:
  // The latest event counts, as precisely as a status stores it.
  void note(const std::string& claim, base::TimePoint when);
  void forget(std::string_view claim);

  // What was noted about the claim and is not in its status yet, and whether its turn to be written
  // has come: at most once in ten seconds. What its status covers, since the last leader wrote it,
  // is forgotten.
  struct Unwritten {
    std::optional<base::TimePoint> when;
    bool due = false;
    Requeue again;  // when it will be due
  };
  Unwritten unwritten(const model::NodeClaim& claim, base::TimePoint now);
  // A later event may have come while this one was written; it stays noted. nullopt: none was.
  void written(const std::string& claim, std::optional<base::TimePoint> when);

 private:
  std::map<std::string, base::TimePoint, std::less<>> unwritten_;  // by claim
};

}  // namespace millwright::controllers
