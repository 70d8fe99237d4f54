#include "scheduling/packing/economising.hpp"

#include "scheduling/claims/claim_dissolving.hpp"
#include "scheduling/claims/claim_splitting.hpp"
#include "scheduling/search/rebuilding.hpp"
#include "scheduling/search/repacking.hpp"

namespace millwright::scheduling {

Repacked repack(const CompiledProblem& compiled, Packing& packing, ProgramMemory& programs) {
  Repacked result;
  for (PoolId pool; pool < compiled.pools.end_id(); ++pool) {
    const PoolSearch search{compiled.pods, compiled.pools, compiled.topology, packing.drafts(),
                            pool};
    Repacking repacking(search, programs);
    result.cheaper = repacking.run() || result.cheaper;
    result.may_save_more = repacking.may_save_more() || result.may_save_more;
  }
  return result;
}

bool rebuild(const CompiledProblem& compiled, Packing& packing) {
  bool rebuilt = false;
  for (PoolId pool; pool < compiled.pools.end_id(); ++pool) {
    rebuilt = Rebuilding({compiled.pods, compiled.pools, compiled.topology, packing.drafts(), pool})
                  .run() ||
              rebuilt;
  }
  return rebuilt;
}

void tidy_up(Packing& packing) {
  ClaimDrafts& drafts = packing.drafts();
  dissolve_small_claims(drafts);
  // New claims join the end of the list and are looked at too.
  for (ClaimId claim; claim < drafts.claims().end_id(); ++claim) {
    while (split(drafts, claim)) {
    }
  }
  packing.claims_changed();
}

}  // namespace millwright::scheduling
