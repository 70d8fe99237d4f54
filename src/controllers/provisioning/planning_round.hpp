// The input of one plan, taken from one snapshot: the pods that need room, and the nodes and pools
// that may give it.
#pragma once

#include "controllers/provisioning/scheduler_queues.hpp"
#include "millwright/controllers/services.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millwright::controllers {

// A problem that the compute thread solves, and what is needed to carry out its plan.
struct PlanningRound {
  scheduling::SnapshotPtr snapshot;
  scheduling::Problem problem;
  std::map<std::string, scheduling::PodPtr, std::less<>> pods;  // by uid
  std::set<std::string, std::less<>> signalled;                 // uids that may cause a claim
  std::set<std::string, std::less<>> expected;                  // uids of pods that are yet to come
  std::set<std::string, std::less<>> virtual_uids;              // pods of CapacityBuffers
  bool any_being_bound = false;  // a signalled pod was left out because of it
  // When another plan is needed though nothing happened: a node that is not initialised is given
  // up then, or a pod that is being deleted has overstayed.
  std::optional<base::TimePoint> stale_at;
  scheduling::Plan plan;
  std::string trace;                  // reconcileID of what is logged about it
  std::string digest;                 // of the problem, as the DecisionLog names it
  ClaimsInCreation::Shown shown = 0;  // when the snapshot was taken
  std::vector<bool> full;             // of each planned claim: it has no room for more pods
};

// Whether a pending pod is known to have no room: only groups with such a pod cause a claim.
using IsSignalled = std::function<bool(const model::Pod&)>;

// The round has no pods when no plan is needed.
std::shared_ptr<PlanningRound> make_planning_round(Services& services, SchedulerQueues& queues,
                                                   const IsSignalled& is_signalled);

// A plan for the one would be a plan for the other.
bool is_same_problem(const PlanningRound& a, const PlanningRound& b);

// Whether there is something to plan for: a pod that kube-scheduler could not place, or one on a
// node that is going.
bool any_homeless(const scheduling::Snapshot& snapshot, const IsSignalled& is_signalled);

// kube-scheduler has not tried the pod yet. If it is about to (SchedulerQueues), the pod is planned
// along, but never causes a claim.
bool is_untried(const model::Pod& pod);

// NodeClaims may be planned for the pool.
bool is_growing(const model::NodePool& pool);

}  // namespace millwright::controllers
