// Open claims by the domains that they may be in: one list for each choice of domains that pods
// have been tried in. A claim that has left the domains of a list leaves the list. And claims by
// the rungs that may join them.
#pragma once

#include "scheduling/claims/claim_drafts.hpp"
#include "scheduling/claims/open_claims.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace millwright::scheduling {

class ClaimLists {
 public:
  // `fewest_pods_first`: claims with fewer pods come first in a list; else older ones do.
  ClaimLists(ClaimDrafts& drafts, bool fewest_pods_first)
      : drafts_(drafts), fewest_pods_first_(fewest_pods_first) {}

  // `chosen` null: those in any domain.
  OpenClaims& in(const Narrowing* chosen);
  // Claims that pods on the rung may join, as far as requirements go.
  const ClaimMarks& meeting(const Rung& rung);
  // False for claims that are in none of the chosen domains.
  bool may_suit(ClaimId claim, const Narrowing* chosen);
  // The claim, which may be new, has one pod more.
  void note_pod(ClaimId claim);
  void clear() {
    lists_.clear();
    meeting_.clear();
    sorted_ = ClaimId();
  }

 private:
  std::uint32_t rank(ClaimId claim) const {
    return fewest_pods_first_ ? static_cast<std::uint32_t>(drafts_.claims()[claim].pods.size()) : 0;
  }

  ClaimDrafts& drafts_;
  bool fewest_pods_first_;
  std::map<std::uint32_t, OpenClaims> lists_;  // by id of the chosen domains; 0: any
  std::vector<ClaimMarks> meeting_;            // by rung
  ClaimId sorted_;                             // claims before this one are in `meeting_`
};

}  // namespace millwright::scheduling
