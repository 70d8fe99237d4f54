// The part of ClaimDrafts that PlanningSession changes finished claims with.
#include "scheduling/claim_drafts.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {

void ClaimDrafts::note_new_classes() {
  if (own_unit_prices_.size() == pods_.classes.size()) {
    return;
  }
  own_unit_prices_.resize(pods_.classes.size());
  Amounts smallest = smallest_requests(pods_);
  if (smallest == smallest_) {
    return;
  }
  smallest_ = std::move(smallest);
  for (ClaimDraft& claim : claims_) {
    note_if_full(claim);
  }
}

void ClaimDrafts::note_if_full(ClaimDraft& claim) {
  scratch_ = claim.requests;
  add_to(scratch_, smallest_);
  claim.full = !pools_[claim.pool].room.any_fits(claim.rows, scratch_);
}

void ClaimDrafts::take_out(std::uint32_t index, std::uint32_t pod) {
  ClaimDraft& claim = claims_[index];
  const auto at = std::find(claim.pods.begin(), claim.pods.end(), pod) - claim.pods.begin();
  Limits& limits = limits_[claim.pool];
  // What it is for may now be met by smaller machines. Where topology, limits or a reservation were
  // settled with the pod, the claim keeps to the machines that it has.
  if (claim.narrowings.empty() && !limits.limited() && !claim.reserved &&
      !claim.min_values_relaxed && claim.pods.size() > 1) {
    std::vector<bool> stays(claim.pods.size(), true);
    stays[static_cast<std::size_t>(at)] = false;
    if (auto rest = part(claim, stays, true)) {
      claim = *std::move(rest);
      return;
    }
  }
  subtract_from(claim.requests, pods_.classes[pods_.pods[pod].pod_class].requests);
  claim.pods.erase(claim.pods.begin() + at);
  claim.rungs.erase(claim.rungs.begin() + at);
  if (!claim.narrowings.empty()) {
    claim.narrowings.erase(claim.narrowings.begin() + at);
  }
  if (claim.pods.empty()) {
    if (limits.limited()) {
      limits.refund(claim.charged);
    }
    claim.rows = RowSet(pools_[claim.pool].table->size());
  }
  note_if_full(claim);
}

}  // namespace millwright::scheduling
