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

const ClaimMarks& ClaimLists::meeting(const Rung& rung) {
  for (; sorted_ < drafts_.claims().end_id(); ++sorted_) {
    for (const std::uint32_t id : drafts_.shapes().meeting(drafts_.claims()[sorted_].shape)) {
      if (meeting_.size() <= id) {
        meeting_.resize(id + 1);
      }
      meeting_[id].insert(sorted_);
    }
  }
  if (meeting_.size() <= rung.id) {
    meeting_.resize(rung.id + 1);
  }
  return meeting_[rung.id];
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
