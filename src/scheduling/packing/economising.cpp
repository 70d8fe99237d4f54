#include "scheduling/packing/economising.hpp"

#include "scheduling/claims/claim_dissolving.hpp"
#include "scheduling/claims/claim_splitting.hpp"
#include "scheduling/search/repacking.hpp"

namespace millwright::scheduling {

bool repack(const CompiledProblem& compiled, Packing& packing, ProgramMemory& programs) {
  bool repacked = false;
  for (PoolId pool; pool < compiled.pools.end_id(); ++pool) {
    const PoolSearch search{compiled.pods, compiled.pools, compiled.topology, packing.drafts(),
                            pool};
    repacked = Repacking(search, programs).run() || repacked;
  }
  return repacked;
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
