// One run of the planner over a compiled problem: promised pods to their targets, then every pod
// in order to the first existing node, the claim in the making with the fewest pods, or a new
// claim (Karpenter's Scheduler.Solve).
#pragma once

#include "scheduling/claim_drafts.hpp"
#include "scheduling/existing_nodes.hpp"

#include <cstdint>
#include <optional>
#include <span>
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
};

class Packing {
 public:
  Packing(const Problem& problem, const PodClasses& pods, std::span<const PoolTemplate> pools,
          const ExistingNodes& nodes, Strategy strategy);

  void run();

  const std::vector<Outcome>& outcomes() const { return outcomes_; }  // by PodClasses::pods
  const ClaimDrafts& drafts() const { return drafts_; }
  ClaimDrafts& drafts() { return drafts_; }

 private:
  // What one class has learned on one rung. Nodes and claims only get fuller, so it never goes
  // back to those that turned it away.
  struct Seeker {
    std::uint32_t next_node = 0;
    std::uint32_t claims_seen = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open_claims;  // heap of (rank, claim)
    bool cannot_open = false;
  };

  void keep_promises();
  void place_all(std::vector<std::uint32_t>& waiting);
  // Claims or limits have changed in the pods' favour: what was learned about them is forgotten.
  void look_again();
  bool place(std::uint32_t pod);
  bool place_on_node(std::uint32_t pod, const Candidate& candidate, std::uint32_t node);
  bool seek_node(std::uint32_t pod, const Candidate& candidate, Seeker& seeker);
  std::uint32_t rank(std::uint32_t claim) const;
  bool seek_claim(std::uint32_t pod, const Candidate& candidate, Seeker& seeker);
  bool open_claim(std::uint32_t pod, const Candidate& candidate, Seeker& seeker);
  // Another round may succeed where limits were charged for more than will be bought.
  bool relieve_limits(const std::vector<std::uint32_t>& waiting);
  // Better dear than not at all: those still waiting may join any claim.
  bool forget_price_levels();
  void economise();
  bool node_admits(std::uint32_t node, const Candidate& candidate);

  const PodClasses& pods_;
  std::span<const PoolTemplate> pools_;
  const ExistingNodes& nodes_;
  Strategy strategy_;
  bool economise_;
  ClaimDrafts drafts_;
  std::vector<Outcome> outcomes_;
  std::vector<Amounts> room_;                 // by node
  std::vector<HostPorts> ports_;              // by node
  std::vector<VolumeSlots> volumes_;          // by node
  std::vector<std::vector<Seeker>> seekers_;  // by class, by rung
  std::vector<std::size_t> gave_up_;          // by class: claims there were, plus one
  std::vector<std::vector<std::vector<std::int8_t>>> verdicts_;  // by constraint, rung, node
};

}  // namespace millwright::scheduling
