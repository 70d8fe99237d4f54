// The part of ClaimDrafts through which Repacking makes claims and puts them in place of others.
#include "scheduling/claim_drafts.hpp"
#include "scheduling/min_values.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {

std::optional<ClaimDraft> ClaimDrafts::start(std::uint32_t pool, const Candidate& candidate,
                                             std::uint32_t pod) {
  auto claim = draft(pool, candidate, false);
  if (!claim || claim->reserved || claim->min_values_relaxed) {
    return std::nullopt;
  }
  add_pod(*claim, candidate, pod);
  return claim;
}

bool ClaimDrafts::charge_all(Limits& limits, std::vector<ClaimDraft>& claims, bool tight) const {
  for (ClaimDraft& claim : claims) {
    if (limits.nodes_exhausted()) {
      return false;
    }
    const PoolTemplate& pool = pools_[claim.pool];
    const ClaimShape& shape = shapes_[claim.shape];
    if (const auto cheapest = cheapest_row(pool, shape, claim); tight && cheapest) {
      claim.rows = limits.no_larger_than(cheapest->row, claim.rows);
    }
    RowSet within = claim.rows;
    limits.keep_within(within);
    if (within != claim.rows ||
        (shape.has_min_values &&
         !satisfies_min_values(shape.requirements, *pool.table, claim.rows))) {
      return false;
    }
    limits.charge(claim.rows);
    claim.charged = claim.rows;
  }
  return true;
}

bool ClaimDrafts::adopt(std::uint32_t pool, std::vector<ClaimDraft> claims) {
  if (limits_[pool].limited()) {
    Limits before = limits_[pool];
    for (const ClaimDraft& claim : claims_) {
      if (claim.pool == pool) {
        before.refund(claim.charged);
      }
    }
    // Limits are charged the largest machine that each may become. Where that is too much, each
    // keeps to the size that it is meant to be.
    Limits after = before;
    if (std::vector<ClaimDraft> charged = claims; charge_all(after, charged, false)) {
      claims = std::move(charged);
    } else if (after = before; !charge_all(after, claims, true)) {
      return false;
    }
    limits_[pool] = std::move(after);
  }
  std::erase_if(claims_, [&](const ClaimDraft& claim) { return claim.pool == pool; });
  std::move(claims.begin(), claims.end(), std::back_inserter(claims_));
  return true;
}

}  // namespace millwright::scheduling
