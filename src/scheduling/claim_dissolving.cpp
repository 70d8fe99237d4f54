// ClaimDrafts::dissolve_small_claims(): what was opened to keep prices apart, or came last, may fit
// into room that other claims have paid for anyway.
#include "scheduling/claim_drafts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

// Bounds on the work, which is at worst the pods of every small claim times all claims.
constexpr std::size_t kMaxPods = 64;
constexpr std::size_t kMaxTries = 20'000;

}  // namespace

void ClaimDrafts::dissolve_small_claims() {
  std::vector<std::uint32_t> candidates(claims_.size());
  std::iota(candidates.begin(), candidates.end(), 0U);
  std::erase_if(candidates, [&](std::uint32_t claim) {
    return claims_[claim].pods.size() > kMaxPods || claims_[claim].reserved.has_value() ||
           claims_[claim].keeps_together;
  });
  std::stable_sort(candidates.begin(), candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
    return claims_[a].pods.size() < claims_[b].pods.size();
  });
  std::vector<std::optional<CheapestRow>> cheapest;
  for (const ClaimDraft& claim : claims_) {
    cheapest.push_back(cheapest_row(pools_[claim.pool], shapes_[claim.shape], claim));
  }
  std::size_t tries = 0;
  for (const std::uint32_t claim : candidates) {
    if (tries >= kMaxTries) {
      break;
    }
    dissolve(claim, cheapest, tries);
  }
  std::erase_if(claims_, [](const ClaimDraft& claim) { return claim.pods.empty(); });
}

bool ClaimDrafts::dissolve(std::uint32_t index,
                           const std::vector<std::optional<CheapestRow>>& cheapest,
                           std::size_t& tries) {
  const ClaimDraft& leaving = claims_[index];
  std::map<std::uint32_t, ClaimDraft> changed;
  for (std::size_t i = 0; i < leaving.pods.size(); ++i) {
    const Candidate member = candidate(leaving, i);
    bool placed = false;
    for (std::uint32_t other = 0; other < claims_.size() && !placed; ++other) {
      if (other == index || claims_[other].pods.empty() || claims_[other].full ||
          !cheapest[other] || ++tries >= kMaxTries) {
        continue;
      }
      const auto known = changed.find(other);
      const ClaimDraft& now = known != changed.end() ? known->second : claims_[other];
      // The host must stay what it is bought as, so nothing costs more.
      const auto [row, price] = *cheapest[other];
      scratch_ = now.requests;
      add_to(scratch_, member.pod_class.requests);
      if (!fits(scratch_, pools_[now.pool].room.room(row)) ||
          (member.constraint.has_topology() && !may_move(leaving, now, member.constraint))) {
        continue;
      }
      ClaimDraft host = now;
      if (join(host, member, leaving.pods[i]) && host.rows.contains(row) &&
          row_price(pools_[host.pool], shapes_[host.shape], host, row) <= price) {
        changed.insert_or_assign(other, std::move(host));
        placed = true;
      }
    }
    if (!placed) {
      return false;
    }
  }
  if (limits_[leaving.pool].limited()) {
    limits_[leaving.pool].refund(leaving.charged);
  }
  for (auto& [other, claim] : changed) {
    claims_[other] = std::move(claim);
  }
  claims_[index].pods.clear();
  return true;
}

}  // namespace millwright::scheduling
