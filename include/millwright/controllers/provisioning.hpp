// Unschedulable pods become NodeClaims. A pod counts as soon as kube-scheduler reported it
// Unschedulable or our own filter refused it everywhere; pods seen but not yet tried are planned
// along with them where no existing node may take them, so that a burst gets one plan after a
// moment's wait. Every pod planned onto a claim gets a hold there, written with the claim, before
// any cloud call.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/scheduling/plan_memory.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class Holds;
class Pace;
struct PlanningRound;

class Provisioner {
 public:
  Provisioner(Services& services, Holds& holds);
  ~Provisioner();
  // Something that a plan depends on changed.
  void notify();
  // The extender refused this pod on every node it was asked about.
  void refused(std::string pod_uid);
  base::Task<void> run(std::stop_token stop);

  // One plan over the current snapshot, carried out; what run() repeats. False when it has to be
  // made again soon: something could not be created, or a pod was left out that kube-scheduler
  // seemed about to bind.
  base::Task<bool> plan_once();

 private:
  base::Task<bool> carry_out(std::shared_ptr<const PlanningRound> round);
  void place_buffers(const PlanningRound& round);
  void place_on_existing(const scheduling::NodeRecord& record, const scheduling::PodPtr& pod);
  void nominate(const model::Pod& pod, const std::string& target);
  // Whether somebody said of a pending pod that it has no room.
  std::function<bool(const model::Pod&)> signalled() const;
  std::vector<scheduling::PodPtr> still_homeless(const PlanningRound& round,
                                                 const scheduling::PlannedClaim& planned) const;
  // Waits while pods keep coming or kube-scheduler has pods that it has not tried.
  base::Task<void> gather(std::stop_token stop);
  bool any_untried() const;

  Services& services_;
  Holds& holds_;
  base::Signal signal_;
  std::shared_ptr<scheduling::PlanMemory> memory_;            // used by one plan at a time
  std::set<std::string, std::less<>> refused_pods_;           // by the extender
  std::map<std::string, std::string, std::less<>> refusals_;  // by the planner: reason by pod uid
  std::unique_ptr<Pace> nominations_;                         // of events
};

// Creates one planned claim with its holds written on it, and only then records them in the ledger
// and assumes the claim. `pods` are those planned onto it; `reason` is what it is counted under.
// Also what a removal uses for its replacements.
base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> create_planned_claim(
    Services& services, scheduling::PlannedClaim planned,
    std::shared_ptr<const model::NodePool> pool, std::vector<scheduling::PodPtr> pods,
    std::string reason);

}  // namespace millwright::controllers
