// Schedules as kube-scheduler does: one pod at a time through the in-tree filters, the extender's
// filter, the scores of both, an assumed placement and a binding. A pod that fits nowhere may
// preempt pods of lower priority, if the extender allows it. Loop thread only.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/sandbox/callers.hpp"
#include "millwright/sandbox/world.hpp"
#include "sandbox/scheduler/preemption.hpp"
#include "sandbox/scheduler/queue.hpp"
#include "sandbox/workloads/controller.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millwright::sandbox {

class Scheduler {
 public:
  Scheduler(ClusterContext& context, SchedulerOptions options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void set_extender(std::shared_ptr<ExtenderCaller> caller) { extender_ = std::move(caller); }
  // Takes in what exists and begins.
  void start();
  void stop();
  // Takes no further pod; what was decided is still bound.
  void retire();
  // Sees every change inside the write.
  void observe(const ResourceInfo& info, const Event& event);

 private:
  // Why nodes were refused: reason text to the number of nodes it was given for.
  using Reasons = std::map<std::string, std::size_t>;
  struct Decision {
    std::string node;  // empty: none
    Rejection rejection = Rejection::None;
    Reasons reasons;
    std::size_t nodes = 0;
    std::string nominated;  // where pods were preempted for it
  };
  struct Filtered {
    std::vector<std::string> names;
    Reasons reasons;
  };
  // What the extender's filter said.
  struct FilterAnswer {
    std::vector<std::string> passed;
    Reasons reasons;
    std::set<std::string> hopeless;  // FailedAndUnresolvableNodes: no eviction helps there
  };
  // The pod under way and what happened to it, and around it, meanwhile.
  struct InFlight {
    std::string uid;
    PodPtr pod;  // the newest state
    bool changed = false;
    bool gone = false;
    bool woken = false;
    bool helped = false;
  };

  base::Task<void> run(std::stop_token stop);
  base::Task<void> schedule_one(QueuedPod queued);
  base::Task<Decision> decide(PodPtr pod, std::string pod_json);
  // nullopt when the extender failed, which is ignored.
  base::Task<std::optional<FilterAnswer>> ask_filter(std::string pod_json,
                                                     std::vector<std::string> names);
  base::Task<std::map<std::string, std::int64_t>> ask_scores(std::string pod_json,
                                                             std::vector<std::string> names);
  // The candidates the extender leaves.
  base::Task<std::map<std::string, Victims>> ask_preempt(std::string pod_json,
                                                         std::map<std::string, Victims> candidates);
  Filtered filter_in_tree(const model::Pod& pod) const;
  // The node as the pod must see it: pods nominated there count, unless they are less important.
  NodeInfo with_nominated(const NodeInfo& node, const model::Pod& pod) const;
  std::string best_node(const model::Pod& pod, const std::vector<std::string>& names,
                        const std::map<std::string, std::int64_t>& extender_scores) const;
  // Deletes what has to go and says where; empty when there is no such node.
  base::Task<std::string> preempt(PodPtr pod, std::string pod_json, std::set<std::string> hopeless);
  void end_victims(const model::Pod& pod, const std::string& node,
                   const std::vector<PodPtr>& victims);
  void bind(QueuedPod queued, const std::string& node);
  void finish_binding(const QueuedPod& queued, const std::string& node);
  void refuse(QueuedPod queued, const Decision& decision);
  void report_unschedulable(const model::Pod& pod, const Decision& decision,
                            const std::string& message);

  void observe_pod(const Event& event);
  void observe_node(const Event& event);
  void wake(const std::function<bool(const model::Pod&)>& helps);
  bool is_mine(const model::Pod& pod) const;

  ClusterContext& context_;
  SchedulerOptions options_;
  std::shared_ptr<ExtenderCaller> extender_;
  SchedulerCache cache_;
  SchedulingQueue queue_;
  base::Signal signal_;
  base::TaskGroup tasks_;
  std::map<std::string, base::TimerId> bindings_;  // by uid
  std::optional<InFlight> in_flight_;
  bool running_ = false;
};

}  // namespace millwright::sandbox
