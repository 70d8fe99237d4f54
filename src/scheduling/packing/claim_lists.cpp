#include "scheduling/packing/claim_lists.hpp"

#include <algorithm>

namespace millwright::scheduling {

OpenClaims& ClaimLists::in(const Narrowing* chosen) {
  // Ids of narrowings start after those of rungs, of which there is at least one.
  OpenClaims& result = lists_[chosen == nullptr ? 0 : chosen->id];
  for (ClaimId claim = result.seen(); claim < drafts_.claims().end_id(); ++claim) {
    result.see(claim, !drafts_.claims()[claim].full && may_suit(claim, chosen), rank(claim));
  }
  return result;
}

bool ClaimLists::may_suit(ClaimId claim, const Narrowing* chosen) {
  return chosen == nullptr ||
         std::all_of(chosen->parts.begin(), chosen->parts.end(), [&](const Narrowing::Part& part) {
           const auto domain = drafts_.domains().of(drafts_.claims()[claim].shape, part.key);
           return domain < 0 || chosen->admits(part.key, domain);
         });
}

void ClaimLists::note_pod(ClaimId claim) {
  const std::uint32_t now = rank(claim);
  for (auto& [chosen, claims] : lists_) {
    claims.move(claim, fewest_pods_first_ ? now - 1 : 0, now, !drafts_.claims()[claim].full);
  }
}

}  // namespace millwright::scheduling
