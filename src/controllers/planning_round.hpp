// What one plan is made of, out of one snapshot: the pods that want room, and all that may give it.
#pragma once

#include "millwright/controllers/services.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace millwright::controllers {

// A problem that may be looked at from the compute thread, and what is needed to act on its plan.
struct PlanningRound {
  scheduling::SnapshotPtr snapshot;
  scheduling::Problem problem;
  std::map<std::string, scheduling::PodPtr, std::less<>> pods;  // by uid
  std::set<std::string, std::less<>> signalled;                 // uids that may cause a claim
  std::set<std::string, std::less<>> virtual_uids;              // pods of CapacityBuffers
  bool any_being_bound = false;                                 // left out for that reason
  scheduling::Plan plan;
};

// Whether somebody said of a pending pod that it has no room.
using IsSignalled = std::function<bool(const model::Pod&)>;

// Without pods when nobody needs a plan.
std::shared_ptr<PlanningRound> make_planning_round(Services& services,
                                                   const IsSignalled& is_signalled);

// Something to plan for: a pod that kube-scheduler could not place, or one whose node goes.
bool any_homeless(const scheduling::Snapshot& snapshot, const IsSignalled& is_signalled);

// Not tried by kube-scheduler yet; planned along, but never the reason for a claim.
bool is_untried(const model::Pod& pod);

// Uids of pods that the extender let through moments ago: kube-scheduler is about to bind them,
// whatever an older report says that we may be seeing only now.
std::set<std::string, std::less<>> pods_being_bound(const Services& services);

}  // namespace millwright::controllers
