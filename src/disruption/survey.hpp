// One look at the cluster for one decision. Built once, read by every method.
#pragma once

#include "disruption/candidates/budgets.hpp"
#include "disruption/candidates/candidate.hpp"
#include "disruption/candidates/pool_index.hpp"
#include "disruption/findings.hpp"
#include "disruption/simulation/destinations.hpp"
#include "disruption/simulation/node_prices.hpp"
#include "disruption/work.hpp"
#include "millwright/scheduling/plan_memory.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::disruption {

// Nodes that cannot go alone, by Karpenter's rules. That stays so while others go, nothing is
// bought, no pod moves that their pods have rules about, or that has rules about these, and nobody
// else wants room: there is only less of it then. With others that can help: less room may send
// them elsewhere.
using StayingAlone = std::set<scheduling::NodeRecordPtr>;

// What surveys of nearly the same cluster share that are made for one decision.
struct SurveyTools {
  scheduling::PlanMemory memory;
  std::shared_ptr<Work> work = std::make_shared<Work>();
  StayingAlone staying = {};
};

class Survey {
 public:
  // Fences of `own_claims` do not count: the command that is being checked raised them.
  Survey(const Input& input, const std::vector<std::string>& own_claims, SurveyTools tools = {});

  const Input& input() const { return input_; }
  // Sorted by claim name.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const Candidate* find(std::string_view claim) const;
  const PoolIndex& pools() const { return pools_; }
  const PodObstacles& pod_obstacles() const { return pod_obstacles_; }
  const RemainingBudgets& budgets() const { return budgets_; }
  const NodePrices& prices() const { return prices_; }
  const Destinations& destinations() const { return destinations_; }
  Findings& findings() { return findings_; }
  // Others that want the room which pods of a removed node would use.
  const std::vector<scheduling::PodPtr>& competitors(Reason reason) const {
    return reason == Reason::Drifted ? destinations_.other_pods() : competitors_;
  }
  // Pods on nodes that are going, and room of buffers, without a place though no other node goes.
  // Found when somebody asks first.
  const std::set<std::string, std::less<>>& homeless(Reason reason) const;
  // Simulations ask about the same cluster, so the planner need not compile it again each time.
  scheduling::PlanMemory& plan_memory() const { return tools_.memory; }
  Work& work() const { return *tools_.work; }
  std::shared_ptr<Work> shared_work() const { return tools_.work; }
  StayingAlone& staying() const { return tools_.staying; }
  // Of the cluster, those of DaemonSets included.
  std::size_t pod_count() const { return pod_count_; }
  // For the next survey; this one is done.
  SurveyTools take_tools() && { return std::move(tools_); }

 private:
  const Input& input_;
  const PodObstacles pod_obstacles_;
  const PoolIndex pools_;
  const RemainingBudgets budgets_;
  const NodePrices prices_;
  const Destinations destinations_;
  const std::vector<scheduling::PodPtr> competitors_;  // of consolidation
  Findings findings_;
  const std::vector<Candidate> candidates_;
  std::size_t pod_count_ = 0;
  // Of drift, and of consolidation.
  mutable std::optional<std::set<std::string, std::less<>>> homeless_in_drift_;
  mutable std::optional<std::set<std::string, std::less<>>> homeless_;
  mutable SurveyTools tools_;
};

}  // namespace millwright::disruption
