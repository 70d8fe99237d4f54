// Where every pod of a problem goes, and the moves that give a pod its place. Who calls them
// decides in which order places are tried.
#pragma once

#include "scheduling/claims/claim_drafts.hpp"
#include "scheduling/claims/open_claims.hpp"
#include "scheduling/packing/allowance.hpp"
#include "scheduling/packing/claim_lists.hpp"
#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/packing/nodes_in_use.hpp"
#include "scheduling/topology/applicant.hpp"
#include "scheduling/values/ids.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace millwright::scheduling {

struct PodPlace {
  enum class Kind : std::uint8_t { None, Node, Claim };  // None: it is refused, or waits
  Kind kind = Kind::None;
  std::uint32_t index = 0;  // of the node or claim

  static PodPlace on(NodeId node) { return {Kind::Node, node.index()}; }
  static PodPlace on(ClaimId claim) { return {Kind::Claim, claim.index()}; }
  NodeId node() const { return NodeId(index); }
  ClaimId claim() const { return ClaimId(index); }
};

// What one class has learned on one rung. Nodes and claims only get fuller, so it never goes back
// to those that turned it away.
struct Seeker {
  NodeId next_node;
  ClaimId next_claim;                                          // not looked at before
  std::vector<std::pair<std::uint32_t, ClaimId>> open_claims;  // heap of (rank, claim)
  bool cannot_open = false;
  // Used where other pods matter, in place of the two above.
  ClaimMarks turned_away;
  double price = -1;  // of a new claim; negative: not known

  // What it learned about claims and limits.
  void forget_claims() { *this = {.next_node = next_node}; }
};

class Placements {
 public:
  Placements(const CompiledProblem& compiled, NodesInUse& nodes, ClaimDrafts& drafts,
             Allowance& allowance, bool fewest_pods_first);

  const ById<PodId, PodPlace>& places() const { return places_; }
  // Pods bound in this order break no topology rule on the way.
  const ById<PodId, std::uint32_t>& steps() const { return steps_; }
  bool has_place(PodId pod) const { return places_[pod].kind != PodPlace::Kind::None; }
  NodesInUse& nodes() { return nodes_; }
  ClaimDrafts& drafts() { return drafts_; }
  ClaimLists& open_claims() { return open_claims_; }
  Allowance& allowance() { return allowance_; }

  // Each is false, and nothing is changed, when the pod may not go there.
  //
  bool place_on_node(PodId pod, const Applicant& applicant, NodeId node);
  // On the first node that has not turned it away.
  bool seek_node(PodId pod, const Applicant& applicant, Seeker& seeker);
  bool join(PodId pod, const Applicant& applicant, ClaimId claim);
  bool open_claim(PodId pod, const Applicant& applicant, Seeker& seeker);

  // The pod has joined the claim in drafts().
  void joined(PodId pod, ClaimId claim) { record(pod, PodPlace::on(claim)); }
  // Pods have changed claims.
  void note_claims();

 private:
  void record(PodId pod, PodPlace place);

  NodesInUse& nodes_;
  ClaimDrafts& drafts_;
  Allowance& allowance_;
  ClaimLists open_claims_;
  ById<PodId, PodPlace> places_;
  ById<PodId, std::uint32_t> steps_;
  std::uint32_t next_step_ = 0;
};

}  // namespace millwright::scheduling
