// Makes NodeClaims for pods without room (Karpenter's provisioner). A pod is planned once
// kube-scheduler has reported it Unschedulable or our filter has refused it everywhere. Pods that
// kube-scheduler has not tried yet are planned along where no existing node may take them, so that
// a burst gets one plan. Every pod planned onto a claim gets a hold, written with the claim before
// the cloud is called.
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

  // Makes one plan from the current snapshot and carries it out; run() repeats this. False when a
  // plan is needed again soon: a claim could not be created, or a pod was left out because
  // kube-scheduler seemed about to bind it.
  base::Task<bool> plan_once();

 private:
  base::Task<bool> carry_out(std::shared_ptr<const PlanningRound> round);
  base::Task<bool> buy(std::shared_ptr<const PlanningRound> round,
                       scheduling::PlannedClaim planned);
  void place_pods(const PlanningRound& round);
  void report_refusals(const PlanningRound& round);
  void place_buffers(const PlanningRound& round);
  void place_on_existing(const scheduling::NodeRecord& record, const scheduling::PodPtr& pod);
  void nominate(const model::Pod& pod, const std::string& target);
  // Whether a pending pod is known to have no room.
  std::function<bool(const model::Pod&)> signalled() const;
  std::vector<scheduling::PodPtr> still_homeless(const PlanningRound& round,
                                                 const scheduling::PlannedClaim& planned) const;
  // Waits while pods keep coming or kube-scheduler has pods that it has not tried.
  base::Task<void> gather(std::stop_token stop);
  bool any_untried() const;

  Services services_;  // its logger names the round of planning
  Holds& holds_;
  base::Random round_ids_;
  base::Signal signal_;
  std::shared_ptr<scheduling::PlanMemory> memory_;            // used by one plan at a time
  std::set<std::string, std::less<>> refused_pods_;           // by the extender
  std::map<std::string, std::string, std::less<>> refusals_;  // by the planner: reason by pod uid
  std::unique_ptr<Pace> nominations_;                         // of events
};

struct NewClaim {
  scheduling::PlannedClaim planned;
  std::shared_ptr<const model::NodePool> pool;
  std::vector<scheduling::PodPtr> pods;  // those planned onto it: each gets a hold
  std::string reason;                    // the label of karpenter_nodeclaims_created_total
};

// Creates the NodeClaim with its holds written on it. They are in the ledger before the API server
// is asked, so that none of the pods is bound elsewhere meanwhile.
base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> create_claim(Services& services,
                                                                               NewClaim wanted);

}  // namespace millwright::controllers
