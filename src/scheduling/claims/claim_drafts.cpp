#include "scheduling/claims/claim_drafts.hpp"

#include "scheduling/compile/pools/min_values.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace millwright::scheduling {

ClaimDrafts::ClaimDrafts(const CompiledProblem& compiled, TopologyCounts& counts,
                         Narrowings& narrowings, bool keep_price_levels)
    : counts_(counts),
      builder_(compiled, counts, keep_price_levels),
      domains_(compiled.topology, builder_, narrowings),
      claim_counts_(claims_, builder_, domains_, counts) {}

bool ClaimDrafts::join(ClaimId claim, const Applicant& applicant, PodId pod) {
  if (!builder_.join(claims_[claim], applicant, pod)) {
    return false;
  }
  if (!counts_.topology().empty()) {
    claim_counts_.count(claim, applicant.constraint);
  }
  return true;
}

std::optional<ClaimId> ClaimDrafts::open(const Applicant& applicant, PodId pod) {
  for (PoolId pool; pool < builder_.pools().end_id(); ++pool) {
    auto claim = builder_.draft(pool, applicant, LimitUse::Heeded);
    if (!claim) {
      continue;
    }
    if (claim->reserved) {
      builder_.reservations().take(builder_.pools()[pool].table->kinds()[*claim->reserved]);
    }
    if (builder_.keeps_price_levels()) {
      claim->price_level = builder_.price_level(*claim);
    }
    builder_.add_pod(*claim, applicant, pod);
    if (Limits& limits = builder_.limits(pool); limits.limited()) {
      limits.charge(claim->rows);
      claim->charged = claim->rows;
    }
    const ClaimId id = claims_.end_id();
    claims_.push_back(*std::move(claim));
    if (!counts_.topology().empty()) {
      claim_counts_.count(id, applicant.constraint);
    }
    return id;
  }
  return std::nullopt;
}

bool ClaimDrafts::tighten(PoolId pool) {
  bool freed = false;
  Limits& limits = builder_.limits(pool);
  for (ClaimDraft& claim : claims_) {
    if (claim.pool != pool) {
      continue;
    }
    const auto cheapest = cheapest_row(builder_.pools()[pool], shapes()[claim.shape], claim);
    if (!cheapest) {
      continue;
    }
    RowSet rows = limits.no_larger_than(cheapest->row, claim.rows);
    if (rows == claim.charged || !builder_.has_choice(claim, rows)) {
      continue;
    }
    limits.recharge(claim.charged, rows);
    claim.charged = rows;
    claim.rows = std::move(rows);
    freed = true;
  }
  return freed;
}

bool ClaimDrafts::replace(ClaimId claim, ClaimDraft first, ClaimDraft second) {
  Limits& limits = builder_.limits(first.pool);
  if (limits.limited()) {
    // Both keep to the sizes that they are meant to be, or they would be charged for two large
    // ones.
    const Limits before = limits;
    for (ClaimDraft* half : {&first, &second}) {
      const auto cheapest =
          cheapest_row(builder_.pools()[half->pool], shapes()[half->shape], *half);
      half->rows = limits.no_larger_than(cheapest->row, half->rows);
      half->charged = half->rows;
      if (!satisfies_min_values(shapes()[half->shape].requirements,
                                *builder_.pools()[half->pool].table, half->rows)) {
        return false;
      }
    }
    limits.recharge(claims_[claim].charged, first.charged);
    RowSet within = second.rows;
    limits.keep_within(within);
    if (within != second.rows || limits.nodes_exhausted()) {
      limits = before;
      return false;
    }
    limits.charge(second.charged);
  }
  claims_[claim] = std::move(first);
  claims_.push_back(std::move(second));
  return true;
}

void ClaimDrafts::dissolve(ClaimId claim, std::map<ClaimId, ClaimDraft> hosts) {
  if (Limits& limits = builder_.limits(claims_[claim].pool); limits.limited()) {
    limits.refund(claims_[claim].charged);
  }
  for (auto& [other, host] : hosts) {
    claims_[other] = std::move(host);
  }
  claims_[claim].pods.clear();
}

void ClaimDrafts::remove_empty() {
  std::erase_if(claims_, [](const ClaimDraft& claim) { return claim.pods.empty(); });
}

bool ClaimDrafts::charge_all(Limits& limits, std::vector<ClaimDraft>& claims, bool tight) const {
  for (ClaimDraft& claim : claims) {
    if (limits.nodes_exhausted()) {
      return false;
    }
    const PoolTemplate& pool = builder_.pools()[claim.pool];
    const ClaimShape& shape = shapes()[claim.shape];
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

bool ClaimDrafts::adopt(PoolId pool, std::vector<ClaimDraft> claims) {
  if (Limits& limits = builder_.limits(pool); limits.limited()) {
    Limits before = limits;
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
    limits = std::move(after);
  }
  std::erase_if(claims_, [&](const ClaimDraft& claim) { return claim.pool == pool; });
  std::move(claims.begin(), claims.end(), std::back_inserter(claims_));
  return true;
}

}  // namespace millwright::scheduling
