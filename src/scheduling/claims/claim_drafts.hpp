// All claims of a packing, counted and charged to limits.
//
// Requirements only narrow and requests only grow while pods join. So a class of pods that a claim
// has turned away once need never be tried on it again.
#pragma once

#include "scheduling/claims/claim_builder.hpp"
#include "scheduling/claims/claim_counts.hpp"
#include "scheduling/claims/claim_domains.hpp"
#include "scheduling/claims/claim_draft.hpp"
#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/topology/narrowings.hpp"
#include "scheduling/topology/topology_counts.hpp"
#include "scheduling/values/ids.hpp"

#include <map>
#include <optional>
#include <vector>

namespace millwright::scheduling {

class ClaimDrafts {
 public:
  // `keep_price_levels`: see ClaimBuilder.
  ClaimDrafts(const CompiledProblem& compiled, TopologyCounts& counts, Narrowings& narrowings,
              bool keep_price_levels);
  ClaimDrafts(const ClaimDrafts&) = delete;
  ClaimDrafts& operator=(const ClaimDrafts&) = delete;

  const ById<ClaimId, ClaimDraft>& claims() const { return claims_; }
  const ClaimShapes& shapes() const { return builder_.shapes(); }
  ClaimShapes& shapes() { return builder_.shapes(); }
  const ClaimBuilder& builder() const { return builder_; }
  ClaimBuilder& builder() { return builder_; }
  ClaimDomains& domains() { return domains_; }

  bool join(ClaimId claim, const Applicant& applicant, PodId pod);
  // A new claim in the first pool that takes the pod.
  std::optional<ClaimId> open(const Applicant& applicant, PodId pod);
  // See ClaimCounts.
  void choose_domains(TopologyGroupId group, const Requirements& wanted) {
    claim_counts_.choose_domains(group, wanted);
  }
  // Commits the claims of a limited pool to sizes no larger than their cheapest choice, which
  // frees what they were charged beyond it. False when nothing was freed.
  bool tighten(PoolId pool);

  // The following change claims that are counted already, and leave the counts as they are;
  // recount() when all is done.
  //
  // Puts two claims in place of one; the second becomes the last of all. False, and nothing is
  // changed, when limits do not allow it.
  bool replace(ClaimId claim, ClaimDraft first, ClaimDraft second);
  // All pods of the claim have moved to others, which are now as in `hosts` The claim
  // stays behind empty.
  void dissolve(ClaimId claim, std::map<ClaimId, ClaimDraft> hosts);
  // Changes the ids of those that follow.
  void remove_empty();
  // Puts these in place of all claims of the pool. False, and nothing is changed, when its limits
  // do not allow it.
  bool adopt(PoolId pool, std::vector<ClaimDraft> claims);
  void recount() { claim_counts_.recount(); }

 private:
  // `tight`: as no larger than the cheapest machine of each. False when that is too much.
  bool charge_all(Limits& limits, std::vector<ClaimDraft>& claims, bool tight) const;

  TopologyCounts& counts_;
  ById<ClaimId, ClaimDraft> claims_;
  ClaimBuilder builder_;
  ClaimDomains domains_;
  ClaimCounts claim_counts_;
};

}  // namespace millwright::scheduling
