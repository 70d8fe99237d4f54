// Makes a NodePool's claims cheaper when the plan is made and something is still to be won: looks
// for the cheapest plan if they are few, see ExactSearch, and takes a few of them apart at a time
// if that does not settle it, see RuinAndRecreate. As in Repacking, pods stay in their domains.
#pragma once

#include "scheduling/search/filling/fill.hpp"
#include "scheduling/search/lots/pod_lots.hpp"
#include "scheduling/search/pool_search.hpp"
#include "scheduling/search/program/fill_search.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace millwright::scheduling {

class Rebuilding {
 public:
  explicit Rebuilding(const PoolSearch& search)
      : search_(search), lots_(search.pods, search.topology, search.drafts) {}

  // Replaces the pool's claims by others that cost less. Returns false when it found none in the
  // work that it may do; then nothing has changed.
  bool run();

  // Whether something could be saved on so many claims for the lots, at this price.
  static bool may_save(const PodLots& lots, std::size_t claims, double price);

 private:
  void take_claims_apart();
  // The claims as fills. None when some machine is no longer on sale.
  std::optional<std::vector<Fill>> fills_of_claims() const;
  // Both put cheaper fills in place of some or all; false when they found none.
  bool improve(std::vector<Fill>& fills) const;
  bool improve(std::vector<Fill>& fills, const FillSearch::Market& market) const;
  // What they cost in place of the claims that are taken apart.
  double cost_of(const std::vector<Fill>& fills) const;
  // False when it could not make claims of the fills.
  bool build(const std::vector<Fill>& fills, std::vector<ClaimDraft>& result) const;

  PoolSearch search_;
  PodLots lots_;
  std::vector<ClaimDraft> kept_;   // claims that stay as they are
  std::vector<ClaimDraft> apart_;  // the others
};

}  // namespace millwright::scheduling
