// Chooses which pods get an event about their annotation karpenter.sh/do-not-disrupt.
#pragma once

#include "controllers/process/pace.hpp"
#include "millwright/disruption/pod_obstacles.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::controllers {

// The same is said of a pod once in fifteen minutes, that its protection is over only then when it
// has just ended. At most five pods are told each second (fifty at once).
class ProtectionNews {
 public:
  // Those to be told now. They count as told.
  std::vector<const disruption::ProtectedPod*> due(
      const std::vector<disruption::ProtectedPod>& pods, base::TimePoint now);

 private:
  struct Told {
    disruption::Protection protection;
    base::TimePoint when;
  };
  std::map<std::string, Told, std::less<>> told_;  // by the pod's uid
  Pace pace_{5, 50};
};

}  // namespace millwright::controllers
