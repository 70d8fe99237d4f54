// One run of the planner over a compiled problem: promised pods to their targets, then every pod
// in order to the first existing node, the claim in the making with the fewest pods, or a new
// claim (Karpenter's Scheduler.Solve).
#pragma once

#include "scheduling/claims/claim_drafts.hpp"
#include "scheduling/packing/allowance.hpp"
#include "scheduling/packing/companies.hpp"
#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/packing/nodes_in_use.hpp"
#include "scheduling/packing/placements.hpp"
#include "scheduling/packing/topology_placer.hpp"
#include "scheduling/topology/narrowings.hpp"
#include "scheduling/topology/topology_choices.hpp"
#include "scheduling/topology/topology_counts.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling {

struct Strategy {
  // Names every pod once.
  std::span<const PodId> order;
  // See ClaimBuilder.
  bool keep_price_levels = false;
  // Among claims in the making the one with the fewest pods, as Karpenter does; else the oldest,
  // which leaves fewer claims half empty.
  bool fewest_pods_first = true;
  // Pods that go to these nodes before the others, as far as they may; see dearest_on_nodes().
  std::span<const std::pair<PodId, NodeId>> placed{};
  // Not null: the first pod of a company goes only where there is room for all of it.
  const Companies* companies = nullptr;
  // See TopologyChoices.
  bool leave_open = false;
};

// Its parts refer to each other: it stays where it is. Refers to the compiled problem and to what
// the strategy names.
class Packing {
 public:
  // Takes what it does off the allowance. Pods that come when it is spent are not tried, but one at
  // least finds a place if any does: whoever plans again for the others comes to an end.
  Packing(const CompiledProblem& compiled, Strategy strategy, Allowance& allowance);
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;

  void run();
  // Claims were changed in drafts(). Places follow, and pods that had to wait are tried again:
  // limits may have room for them now.
  void claims_changed();

  const ById<PodId, PodPlace>& places() const { return placements_.places(); }
  const ById<PodId, std::uint32_t>& steps() const { return placements_.steps(); }
  const ClaimDrafts& drafts() const { return drafts_; }
  ClaimDrafts& drafts() { return drafts_; }
  const TopologyCounts& counts() const { return counts_; }
  TopologyCounts& counts() { return counts_; }
  const TopologyChoices& choices() const { return choices_; }
  TopologyChoices& choices() { return choices_; }

  // Pods that have no place.
  const std::vector<PodId>& waiting() const { return waiting_; }
  // The allowance was spent before it was the pod's turn.
  bool is_postponed(PodId pod) const { return !postponed_.empty() && postponed_[pod]; }
  // Whether nothing more may be tried.
  bool has_spent_allowance() const { return allowance_.is_spent(); }
  // The allowance was spent before a pod that waits had its turn among the late ones. A plan for it
  // alone comes to an end only if this one has placed somebody; else it is refused.
  void postpone(PodId pod);
  // Whether some NodePool has an instance type that would hold the pod, whatever is on sale.
  bool could_be_bought(const Applicant& applicant);
  // Tries a pod that waits on some rungs of its ladder, as one that other pods matter to.
  bool place_on(PodId pod, std::span<const Rung> rungs);
  // Pods were placed with place_on().
  void forget_placed() {
    std::erase_if(waiting_, [this](PodId pod) { return placements_.has_place(pod); });
  }
  // Claims or limits have changed in the pods' favour: what was learned about them is forgotten.
  void look_again();

 private:
  void keep_promises();
  bool keep_promise(PodId pod, NodeId node);
  void place_as_told();
  void place_waiting();
  void place_each_waiting(bool for_the_first_time);
  bool place(PodId pod);
  bool seek_claim(PodId pod, const Applicant& applicant, Seeker& seeker);
  std::uint32_t rank(ClaimId claim) const;
  // Another round may succeed where limits were charged for more than will be bought.
  bool relieve_limits();
  // Better dear than not at all: those still waiting may join any claim.
  bool forget_price_levels();
  void recount();

  const PodClasses& pods_;
  const ById<PoolId, PoolTemplate>& pools_;
  const std::vector<std::pair<PodId, NodeId>>& promises_;
  Strategy strategy_;
  Allowance& allowance_;
  TopologyCounts counts_;
  Narrowings narrowings_;
  TopologyChoices choices_;
  ClaimDrafts drafts_;
  NodesInUse nodes_;
  Placements placements_;
  TopologyPlacer topology_placer_;
  std::vector<PodId> waiting_;                // pods that have no place
  ById<PodId, bool> postponed_;               // empty: none of them is
  bool any_placed_ = false;                   // beside those that were promised or told where
  std::vector<std::vector<Seeker>> seekers_;  // by class, by rung
  std::vector<std::uint64_t> gave_up_;        // by class: how things stood, plus one
};

}  // namespace millwright::scheduling
