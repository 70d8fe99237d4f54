// Looks for cheaper claims to hold the pods of a NodePool's claims. Takes those claims apart, packs
// their pods anew (claim by claim in a few passes, then all claims at once) and keeps the cheapest
// result. Pods that other pods matter to stay in the domains (zones) that they were placed in, so
// what was decided about those holds.
#pragma once

#include "scheduling/search/filling/greedy_packing.hpp"
#include "scheduling/search/lots/pod_lots.hpp"
#include "scheduling/search/pool_search.hpp"
#include "scheduling/search/program/program_memory.hpp"

#include <cstddef>
#include <vector>

namespace millwright::scheduling {

class Repacking {
 public:
  Repacking(const PoolSearch& search, ProgramMemory& programs)
      : search_(search),
        programs_(programs),
        lots_(search.pods, search.topology, search.drafts),
        greedy_(search) {}

  // Replaces the pool's claims by others that cost less. Returns false when it found none in the
  // work that it may do; then nothing has changed.
  bool run();
  // Whether it may be worth while to look at the claims once more, see Rebuilding.
  bool may_save_more() const { return may_save_more_; }

 private:
  // The cheapest claims so far. Nodes have a cost of their own, so more of them must save more.
  struct Contest {
    std::size_t before = 0;           // claims that there were
    double least = 0;                 // to beat, with what more nodes cost
    double price = 0;                 // of the cheapest, or of those before
    std::size_t claims = 0;           // likewise
    std::size_t fewest = 0;           // of all that took part; 0: none did
    std::vector<ClaimDraft> winners;  // none: those before
    double with_node_cost(double price, std::size_t claims) const;
    // The claims are those of another plan, at this price.
    void enter(std::vector<ClaimDraft> claims, double price);
  };

  void take_claims_apart();
  void pack_greedily();
  void dive();
  bool worth_a_dive() const;
  KnownLots known_lots() const;

  PoolSearch search_;
  ProgramMemory& programs_;
  PodLots lots_;
  GreedyPacking greedy_;
  std::vector<ClaimDraft> kept_;  // claims that stay as they are
  Contest contest_;
  bool may_save_more_ = false;
};

}  // namespace millwright::scheduling
