// What the parts of the search for cheaper claims share: they look at one NodePool at a time.
#pragma once

#include "scheduling/claims/claim_drafts.hpp"

#include <optional>
#include <vector>

namespace millwright::scheduling {

struct PoolSearch {
  const PodClasses& pods;
  const ById<PoolId, PoolTemplate>& pools;
  const Topology& topology;
  ClaimDrafts& drafts;
  PoolId pool;

  const PoolTemplate& pool_template() const { return pools[pool]; }
  std::optional<CheapestRow> cheapest(const ClaimDraft& claim) const {
    return cheapest_row(pool_template(), drafts.shapes()[claim.shape], claim);
  }
  double price_of(const ClaimDraft& claim) const {
    const auto row = cheapest(claim);
    return row ? row->price : 0;
  }
  double price_of(const std::vector<ClaimDraft>& claims) const {
    double total = 0;
    for (const ClaimDraft& claim : claims) {
      total += price_of(claim);
    }
    return total;
  }
};

}  // namespace millwright::scheduling
