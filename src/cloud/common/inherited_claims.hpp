// The NodeClaims whose instances another process may have launched: the leader before, or this one
// before it was started again.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/model/karpenter.hpp"

#include <algorithm>
#include <chrono>

namespace millwright::cloud {

class InheritedClaims {
 public:
  explicit InheritedClaims(base::TimePoint now) { take_over(now, {}); }

  // This process leads from `now` on, by its own clock. The newest NodeClaim that there is was
  // created at `newest`, by the API server's clock: ours may be behind that one. Creation times
  // have whole seconds, which is enough: no process becomes leader within a second of another's
  // end.
  void take_over(base::TimePoint now, base::TimePoint newest) {
    since_ = now;
    created_before_ = std::max<base::TimePoint>(std::chrono::floor<std::chrono::seconds>(now),
                                                newest + std::chrono::seconds(1));
  }
  bool contains(const model::NodeClaim& claim) const {
    const auto created = claim.meta.creation_timestamp;
    return created && *created < created_before_;
  }
  // By this process' clock.
  base::TimePoint since() const { return since_; }

 private:
  base::TimePoint since_;
  base::TimePoint created_before_;
};

}  // namespace millwright::cloud
