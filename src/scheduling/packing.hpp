// One run of the planner over a compiled problem: promised pods to their targets, then every pod
// in order to the first existing node, the claim in the making with the fewest pods, or a new
// claim (Karpenter's Scheduler.Solve).
#pragma once

#include "scheduling/claim_drafts.hpp"
#include "scheduling/existing_nodes.hpp"
#include "scheduling/narrowings.hpp"
#include "scheduling/open_claims.hpp"
#include "scheduling/program_memory.hpp"
#include "scheduling/topology_choices.hpp"
#include "scheduling/topology_counts.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millwright::scheduling {

struct Outcome {
  enum class Kind : std::uint8_t { Refused, Node, Claim };
  Kind kind = Kind::Refused;
  std::uint32_t index = 0;  // into ExistingNodes::nodes() or ClaimDrafts::claims()
};

struct Strategy {
  // Names every pod once, by index into PodClasses::pods.
  std::span<const std::uint32_t> order;
  // See ClaimDrafts.
  bool keep_price_levels = false;
  // Among claims in the making the one with the fewest pods, as Karpenter does; else the oldest,
  // which leaves fewer claims half empty.
  bool fewest_pods_first = true;
  bool repack = false;  // see Repacking
  // Pods that go to these nodes (by index into ExistingNodes::nodes()) before the others, as far as
  // they may; see dearest_on_nodes().
  std::span<const std::pair<std::uint32_t, std::uint32_t>> placed{};
  // Shared by packings of one problem; none: nothing is remembered.
  std::shared_ptr<ProgramMemory> programs{};
};

class Packing {
 public:
  Packing(const Problem& problem, const PodClasses& pods, std::span<const PoolTemplate> pools,
          const ExistingNodes& nodes, const Topology& topology, Strategy strategy);

  void run();
  // Looks for cheaper claims to hold the same pods, see Repacking; part of run() if the strategy
  // says so.
  void repack();
  // It has found some.
  bool repacked() const { return repacked_; }
  // The very last step: who still waits for a spread constraint, with fewer domains in mind.
  void place_among_nodes(const Problem& problem);

  // For PlanningSession, which keeps a packing that has run and changes it: packing_revision.cpp.
  //
  // Forgets what claims were closed to whom, before the first change.
  void reopen();
  // Classes, pods and nodes have been added at the ends of the compiled lists.
  void grow();
  // Places these pods and those that wait, as far as there is a place; returns those placed.
  std::vector<std::uint32_t> arrive(std::span<const std::uint32_t> pods);
  // The pod has no place any more and does not wait for one. Not for pods that other pods matter to
  // or that have ports or volumes.
  void take_out(std::uint32_t pod);
  // The pod is part of its node's record from now on, and counts as it did.
  void bound(std::uint32_t pod);
  void swap_steps(std::uint32_t a, std::uint32_t b) { std::swap(steps_[a], steps_[b]); }
  // The node was compiled anew. Its pods that do not fit any more have no place now; returns them.
  std::vector<std::uint32_t> refresh_node(std::uint32_t node);
  const Amounts& room(std::uint32_t node) const { return room_[node]; }

  const std::vector<Outcome>& outcomes() const { return outcomes_; }  // by PodClasses::pods
  const ClaimDrafts& drafts() const { return drafts_; }
  ClaimDrafts& drafts() { return drafts_; }
  const TopologyCounts& counts() const { return counts_; }
  const TopologyChoices& choices() const { return choices_; }
  Narrowings& narrowings() { return narrowings_; }
  // By PodClasses::pods: pods bound in this order break no topology rule on the way.
  const std::vector<std::uint32_t>& steps() const { return steps_; }

 private:
  // What one class has learned on one rung. Nodes and claims only get fuller, so it never goes
  // back to those that turned it away.
  struct Seeker {
    std::uint32_t next_node = 0;
    std::uint32_t claims_seen = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open_claims;  // heap of (rank, claim)
    bool cannot_open = false;
    // Used where other pods matter, in place of the two above.
    ClaimMarks turned_away;
    double price = -1;  // of a new claim; negative: not known
  };

  void keep_promises();
  void place_as_told();
  bool waits_for_spread(std::uint32_t pod) const;
  // Domains that a node has or a claim may come to have.
  DomainSet inhabited(std::uint32_t key, const Problem& problem);
  std::vector<DomainSet> compared_with(const std::vector<DomainSet>& inhabited,
                                       const Rung& rung) const;
  bool place_compared_with(const std::vector<DomainSet>& inhabited, std::uint32_t pod);
  void place_all(std::vector<std::uint32_t>& waiting);
  // Claims or limits have changed in the pods' favour: what was learned about them is forgotten.
  void look_again();
  bool place(std::uint32_t pod);
  bool place_on_node(std::uint32_t pod, const Candidate& candidate, std::uint32_t node);
  bool seek_node(std::uint32_t pod, const Candidate& candidate, Seeker& seeker);
  std::uint32_t rank(std::uint32_t claim) const;
  // False for claims that are in none of the chosen domains.
  bool may_suit(std::uint32_t claim, const Narrowing* chosen);
  bool seek_claim(std::uint32_t pod, const Candidate& candidate, Seeker& seeker);
  bool open_claim(std::uint32_t pod, const Candidate& candidate, Seeker& seeker);
  // Another round may succeed where limits were charged for more than will be bought.
  bool relieve_limits(const std::vector<std::uint32_t>& waiting);
  // Better dear than not at all: those still waiting may join any claim.
  bool forget_price_levels();
  void find_cheaper_claims();
  void economise();
  // What was saved may leave limits with room for pods that had to wait.
  void place_late();
  // Outcomes follow pods that have changed claims.
  void note_claims();
  // One rung with the domains that it may go to, the best first.
  struct Attempt {
    Candidate candidate;
    Seeker* plain = nullptr;
    std::vector<TopologyChoice> choices;
    std::optional<std::uint32_t> company;  // the group by hostname that it must join
  };
  // For pods that others matter to, or with several rungs in a step: packing_topology.cpp.
  bool place_in_stages(std::uint32_t pod, std::span<const Rung> rungs,
                       std::vector<Seeker>& seekers);
  Attempt attempt_on(const Candidate& candidate, Seeker& plain);
  bool open_cheapest(std::uint32_t pod, std::vector<Attempt>& attempts);
  bool seek_listed_claim(std::uint32_t pod, const Candidate& candidate, Seeker& seeker);
  OpenClaims& listed(const Narrowing* chosen);
  bool join_company(std::uint32_t pod, Attempt& attempt);
  bool promise_holds(const Candidate& candidate, std::uint32_t node) const;
  Seeker& seeker_for(const Candidate& candidate, Seeker& plain);
  bool node_is_open(std::uint32_t node, const Candidate& candidate) const;
  // Whether `admits` holds for the node's domain, for all that it may have if that is undecided.
  template <class Admits>
  bool whatever_domain(std::uint32_t key, std::uint32_t node, Admits admits) const {
    const std::int32_t domain = topology_.domain_of(key, node);
    if (domain != kUnknownDomain) {
      return admits(domain);
    }
    const DomainSet* possible = topology_.possible_domains(key, node);
    bool all = possible != nullptr;
    if (all) {
      possible->for_each(
          [&](std::size_t each) { all = all && admits(static_cast<std::int32_t>(each)); });
    }
    return all;
  }
  void count_on_node(std::uint32_t node, const Constraint& constraint);
  void look_at_node_again(std::uint32_t node);
  std::vector<std::uint32_t> pods_on(std::uint32_t node) const;
  void recount();
  void settle(std::uint32_t pod, Outcome outcome);
  bool node_admits(std::uint32_t node, const Candidate& candidate);

  const PodClasses& pods_;
  std::span<const PoolTemplate> pools_;
  const ExistingNodes& nodes_;
  const Topology& topology_;
  Strategy strategy_;
  bool economise_;
  bool repacked_ = false;
  TopologyCounts counts_;
  Narrowings narrowings_;
  TopologyChoices choices_;
  ClaimDrafts drafts_;
  std::vector<Outcome> outcomes_;
  std::vector<std::uint32_t> waiting_;        // pods that have no place
  std::vector<Amounts> room_;                 // by node
  std::vector<HostPorts> ports_;              // by node
  std::vector<VolumeSlots> volumes_;          // by node
  std::vector<std::vector<Seeker>> seekers_;  // by class, by rung
  // By class, rung and chosen domains, where there is a choice of those.
  std::unordered_map<std::uint64_t, Seeker> seekers_by_choice_;
  std::map<std::uint32_t, OpenClaims> listed_;  // by chosen domains; 0: any
  std::vector<std::uint64_t> gave_up_;          // by class: how things stood, plus one
  std::vector<std::uint32_t> steps_;            // by PodClasses::pods
  std::uint32_t next_step_ = 0;
  std::vector<HostTally> hosts_;                                 // by node
  std::unordered_map<std::uint64_t, bool> counts_on_node_;       // by node and group
  std::vector<std::vector<std::vector<std::int8_t>>> verdicts_;  // by constraint, rung, node
};

}  // namespace millwright::scheduling
