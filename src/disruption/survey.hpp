// One look at the cluster for one decision: which nodes could go, why others cannot, what budgets
// leave, and what a simulation needs. Built once, read by every method.
#pragma once

#include "millwright/disruption/decide.hpp"
#include "millwright/disruption/pod_obstacles.hpp"
#include "millwright/scheduling/plan_memory.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace millwright::disruption {

// A node that nothing about the node itself keeps: Karpenter's disruption Candidate.
struct Candidate {
  scheduling::NodeRecordPtr record;
  std::shared_ptr<const model::NodePool> pool;
  scheduling::InstanceTypes types;  // of its pool
  std::string instance_type;
  std::string capacity_type;
  bool buffered = false;                 // keeps room for a CapacityBuffer
  bool priced = false;                   // type, zone and capacity type name an offering
  double price = 0;                      // per hour; 0 when it is not priced
  std::vector<scheduling::PodPtr> pods;  // those that must find another place
  // 1 + the eviction costs of `pods`, negative ones as nothing; 1 means empty.
  double disruption_cost = 1;
  Consolidatable consolidatable;
  std::optional<Obstacle> pods_obstacle;  // do-not-disrupt or a PodDisruptionBudget

  const std::string& claim_name() const { return record->claim_name(); }
  bool empty() const { return disruption_cost <= 1; }
  // What is saved per unit of disruption; the order in which nodes are tried.
  double savings_ratio() const { return price / disruption_cost; }
  const model::Condition* drifted() const;
};

class Survey {
 public:
  // Fences of `own_claims` do not count: their command raised them.
  Survey(const Input& input, const std::vector<std::string>& own_claims);

  const Input& input() const { return input_; }
  // Sorted by claim name.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const Candidate* find(std::string_view claim) const;
  // How many more nodes of the pool may go for the reason.
  int remaining(const model::NodePool& pool, Reason reason) const;

  // Why the claim stays; the first reason given is kept.
  void block(const std::string& claim, Why why, Kept kept = Kept::FromDisruption);
  // Blocks for want of budget, and remembers when that may change.
  void block_by_budget(const Candidate& candidate, Reason reason);
  void wake_at(std::optional<base::TimePoint> time);
  void score(Score score) { scores_.push_back(std::move(score)); }
  // Adds what was blocked and scored and the earliest wake-up.
  void report(Decisions& decisions) const;

  // --- for simulations
  const std::vector<scheduling::PoolOption>& pools() const { return pools_; }
  // A node that may take pods: not going and not fenced.
  struct Destination {
    scheduling::NodeRecordPtr record;
    bool settling = false;  // inside its own consolidateAfter window
    bool sized = false;     // what it can hold is known; not so before its launch
    model::ResourceList free;
  };
  const std::vector<Destination>& destinations() const { return destinations_; }
  // Per resource the most that any settled destination has free.
  const model::ResourceList& most_free() const { return most_free_; }
  // What the pools sell now: the cheapest price of each type and the most room on it.
  struct ForSale {
    double price = 0;
    model::ResourceList room;
  };
  const std::vector<ForSale>& for_sale() const { return for_sale_; }
  // Pods without a place or a promise that compete for the same room.
  const std::vector<scheduling::PodPtr>& other_pods() const { return other_pods_; }
  const std::vector<scheduling::Hold>& holds() const { return holds_; }
  bool is_leaving(std::string_view pod_uid) const { return leaving_uids_.contains(pod_uid); }
  // Stands for the room of a CapacityBuffer.
  bool is_virtual(std::string_view pod_uid) const { return virtual_uids_.contains(pod_uid); }
  const scheduling::NodeRecord* find_node(std::string_view name) const;
  // What simulations need not work out again each time: they ask about the same cluster.
  scheduling::PlanMemory& plan_memory() const { return plan_memory_; }

  // Price and disruption of a whole pool, for the Balanced policy.
  struct PoolTotal {
    double price = 0;
    double disruption = 0;
  };
  PoolTotal total_of(const model::NodePool& pool) const;

 private:
  struct Count {
    int nodes = 0;
    int disrupting = 0;
  };
  void count_nodes();
  void collect_pools();
  void collect_types(const model::NodePool& pool,
                     const std::vector<scheduling::InstanceType>& types);
  void collect_pods();
  void collect_destination(const scheduling::NodeRecordPtr& record);
  void consider(const scheduling::NodeRecordPtr& record, const std::set<std::string_view>& own);
  // With when it may end by itself.
  struct NodeObstacle {
    Why why;
    std::optional<base::TimePoint> until;
  };
  std::optional<NodeObstacle> node_obstacle(const scheduling::NodeRecord& record, bool own) const;
  bool is_going(const scheduling::NodeRecord& record) const;
  std::shared_ptr<const model::NodePool> pool_named(std::string_view name) const;
  std::optional<double> price_of(const scheduling::InstanceTypes& types,
                                 const scheduling::NodeRecord& record) const;

  const Input& input_;
  const scheduling::Snapshot& snapshot_;
  const PodObstacles pod_obstacles_;
  std::vector<Candidate> candidates_;
  std::map<std::string, Blocked, std::less<>> blocked_;  // by claim
  std::set<SpentBudget> spent_budgets_;
  std::vector<Score> scores_;
  std::optional<base::TimePoint> next_;
  std::map<std::string_view, std::shared_ptr<const model::NodePool>> pools_by_name_;
  std::map<std::string_view, Count> counts_;    // by pool
  std::set<std::string_view> awaited_budgets_;  // pools whose next budget change is known
  // Thousands of nodes are of few kinds; by pool, type, zone and capacity type.
  using PriceKey = std::tuple<const void*, std::string_view, std::string_view, std::string_view>;
  mutable std::map<PriceKey, std::optional<double>> prices_;
  std::map<std::string_view, const scheduling::Hold*> holds_by_target_;
  std::vector<scheduling::PoolOption> pools_;
  std::vector<Destination> destinations_;
  model::ResourceList most_free_;
  std::vector<ForSale> for_sale_;
  std::vector<scheduling::PodPtr> other_pods_;
  std::vector<scheduling::Hold> holds_;
  std::set<std::string_view> leaving_uids_;
  std::set<std::string_view> virtual_uids_;
  mutable scheduling::PlanMemory plan_memory_;
  std::unordered_map<std::string_view, const scheduling::NodeRecord*> nodes_by_name_;
};

// Karpenter's EvictionCost: 1, moved by the pod-deletion-cost annotation and the priority, within
// -10..10.
double eviction_cost(const model::Pod& pod);
// Counts in Karpenter's budgets: managed, initialised, its instance not yet terminating.
bool counts_in_budgets(const scheduling::NodeRecord& record);
// The claim's consolidateAfter window is still open at `now`.
bool is_settling(const scheduling::NodeRecord& record, const model::NodePool& pool,
                 base::TimePoint now);

}  // namespace millwright::disruption
