// Makes NodeClaims for pods without room (Karpenter's provisioner). Nothing is bought for a group
// of pods before kube-scheduler has reported one of them Unschedulable or our filter has refused it
// everywhere; then the whole group is planned for, pods that its controller is about to create
// included, so that a burst gets one plan. Every pod planned onto a claim has its room reserved,
// written with the claim before the cloud is called.
//
// A planned claim that is full is created at once. One with room for more is a draft: it is created
// when demand has stood still for Options::draft_idle, or after Options::draft_max. All are drafts
// where demand comes little by little, and while workloads are about to delete pods, as in a
// rolling update: what those leave counts as free once they are being deleted (LeavingPods).
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/scheduling/plan_memory.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class DraftTimer;
class Pace;
class PlanNotes;
class Reservations;
class SchedulerQueues;
struct PlanningRound;

class Provisioner {
 public:
  Provisioner(Services& services, Reservations& reservations);
  ~Provisioner();
  // Something that a plan depends on changed.
  void notify();
  // The extender refused this pod on every node it was asked about, or let no victims be evicted
  // for it.
  void refused(std::string pod_uid);
  // Whether the newest plan had no place for one of the group's pods. Any thread.
  bool refuses(const scheduling::GroupId& group) const;
  base::Task<void> run(std::stop_token stop);

  // Makes one plan from the current snapshot and carries it out; run() repeats this. Says after
  // what time a plan is needed again though nothing changed: drafts wait, a claim could not be
  // created, a pod was left out because kube-scheduler seemed about to bind it, a node that does
  // not become initialised will be given up, or a pod that is being deleted overstays.
  base::Task<std::optional<base::Duration>> plan_once();

 private:
  base::Task<void> make_plan(std::shared_ptr<PlanningRound> round);
  base::Task<bool> carry_out(std::shared_ptr<const PlanningRound> round, bool drafts_too);
  // What became of the claims of a plan.
  struct Purchases {
    bool complete = true;
    bool any_bought = false;
    bool any_too_large = false;  // some of its pods need it no more
    // So many were not created, because their NodePool was not as it was planned with.
    std::map<std::string, std::size_t, std::less<>> of_changed_pools;
  };
  // `purchases` are incomplete when buy() is false.
  base::Task<void> buy_and_note(std::shared_ptr<const PlanningRound> round,
                                scheduling::PlannedClaim planned,
                                std::shared_ptr<Purchases> purchases);
  base::Task<bool> buy(std::shared_ptr<const PlanningRound> round, scheduling::PlannedClaim planned,
                       std::shared_ptr<Purchases> purchases);
  void forget_settled(const scheduling::Snapshot& snapshot);
  // Their nodes are protected from disruption for a while. A plan that is not new tells and
  // reserves nothing again.
  void place_pods(const PlanningRound& round, bool is_new);
  void report_refusals(const PlanningRound& round);
  void set_refused_groups(std::set<std::string, std::less<>> groups);
  void place_buffers(const PlanningRound& round);
  void place_on_existing(const scheduling::NodeRecord& record, const scheduling::PodPtr& pod);
  scheduling::NodeRecordPtr still_there(const scheduling::NodeRecord& then) const;
  std::optional<base::Duration> next_look(const PlanningRound& round, bool complete) const;
  void nominate(const model::Pod& pod, const std::string& target);
  // Whether a pending pod is known to have no room.
  std::function<bool(const model::Pod&)> signalled() const;
  // The uids of the claim's pods that need it now.
  std::vector<std::string> pods_in_need(const PlanningRound& round,
                                        const scheduling::PlannedClaim& planned) const;
  // Waits while pods keep coming or kube-scheduler has pods that it has not tried.
  base::Task<void> gather(std::stop_token stop);
  bool any_untried() const;
  base::Duration time_to_stand_still(const scheduling::Snapshot& snapshot) const;
  bool should_plan_again(const PlanningRound& round);

  Services services_;  // its logger names the round of planning
  Reservations& reservations_;
  base::Random round_ids_;
  base::Signal signal_;
  std::shared_ptr<scheduling::PlanMemory> memory_;            // used by one plan at a time
  std::set<std::string, std::less<>> refused_pods_;           // by the extender
  std::map<std::string, std::string, std::less<>> refusals_;  // by the planner: reason by pod uid
  mutable std::mutex refused_groups_mutex_;
  std::set<std::string, std::less<>> refused_groups_;  // by the planner
  std::unique_ptr<Pace> nominations_;                  // of events
  std::unique_ptr<DraftTimer> drafts_;
  std::unique_ptr<PlanNotes> notes_;
  std::unique_ptr<SchedulerQueues> queues_;
  std::optional<base::TimePoint> bought_at_;  // a claim, last
  // Plans in a row of which nothing was bought, since pods that they were for had gone.
  int vain_plans_ = 0;
  std::shared_ptr<const PlanningRound> last_;  // planned, with drafts that wait
};

struct NewClaim {
  scheduling::PlannedClaim planned;
  std::shared_ptr<const model::NodePool> pool;
  std::vector<scheduling::PodPtr> pods;  // those planned onto it: room is reserved for them
  std::string reason;                    // the label of karpenter_nodeclaims_created_total
  // For the record of decisions: its trace, the digest of what it was decided from, and what its
  // pool may buy.
  std::string trace{};
  std::string inputs{};
  ClaimsInCreation::Shown snapshot{};  // when that was
  scheduling::InstanceTypes types{};
};

// Creates the NodeClaim with its reservations written on it. They are in the ledger before the API
// server is asked, so that none of the pods is bound elsewhere meanwhile. Conflict when others have
// bought what was left of the NodePool's limits.
base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> create_claim(Services& services,
                                                                               NewClaim wanted);

}  // namespace millwright::controllers
