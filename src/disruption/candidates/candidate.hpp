// A node that may be removed: nothing about the node itself keeps it (Karpenter's disruption
// Candidate). What its pods, its pool, budgets and prices say is for the methods to judge.
#pragma once

#include "disruption/candidates/eviction_price.hpp"
#include "disruption/candidates/pod_facts.hpp"
#include "millwright/disruption/decide.hpp"
#include "millwright/disruption/pod_obstacles.hpp"
#include "millwright/disruption/preferences.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millwright::disruption {

struct Candidate {
  scheduling::NodeRecordPtr record;
  std::shared_ptr<const model::NodePool> pool;
  const Preferences* preferences = nullptr;  // of the pool; never null, lives as long as the Survey
  scheduling::InstanceTypes types;           // of its pool
  std::string instance_type;
  std::string capacity_type;
  bool priced = false;                           // type, zone and capacity type name an offering
  double price = 0;                              // per hour; 0 when it is not priced
  double overhead = 0;                           // per hour: what the node costs beside that
  std::shared_ptr<const PodFacts> facts;         // never null
  std::vector<scheduling::PodPtr> virtual_pods;  // so must the room that these stand for
  EvictionPrice evictions;                       // of pods() together
  Consolidatable consolidatable;
  // When its pods have been at rest for Options::settle_time and consolidateAfter.
  std::optional<base::TimePoint> settles_at;
  // Its pods changed lately, or those of nodes that it waits for: Options::settle_together.
  std::optional<base::TimePoint> unsettled_until;
  std::optional<Obstacle> pods_obstacle;  // do-not-disrupt or a PodDisruptionBudget
  // By annotations of its NodePool, see held_back.hpp.
  std::optional<Obstacle> node_too_young;
  std::optional<Obstacle> pods_too_young;
  std::optional<Obstacle> too_full;

  const std::string& claim_name() const { return record->claim_name(); }
  // Those that must find another place.
  const std::vector<scheduling::PodPtr>& pods() const { return facts->movable; }
  // 1 + their eviction costs, where a negative cost counts as 0. Nobody is disturbed by the move of
  // virtual pods.
  double disruption_cost() const { return facts->disruption_cost; }
  // Whatever its pods are worth: they need a place all the same, and would be bought for again.
  bool empty() const { return pods().empty() && virtual_pods.empty(); }
  // Per hour: what is saved when the node goes and nothing is bought for it.
  double cost() const { return price + overhead; }
  // What is saved per unit of disruption. Nodes are tried in this order, highest first.
  double savings_ratio() const { return price / disruption_cost(); }
  // The claim's condition Drifted when it is true, else nullptr.
  const model::Condition* drifted() const;
};

// The clock of consolidateAfter: the last change among the claim's pods, else its initialisation;
// nullopt before that.
std::optional<base::TimePoint> pods_unchanged_since(const model::NodeClaim& claim);

using Candidates = std::span<const Candidate* const>;

// Karpenter's EvictionCost: 1, moved by the pod-deletion-cost annotation and the priority, within
// -10..10.
double eviction_cost(const model::Pod& pod);

}  // namespace millwright::disruption
