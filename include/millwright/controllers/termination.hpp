// A Node that is being deleted: closed to new pods, drained tier by tier through the Eviction API,
// its volumes detached, its instance ended, and only then let go (Karpenter's node.termination).
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <map>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class Termination {
 public:
  explicit Termination(Services& services);
  void enqueue(std::string node) { reconciler_.enqueue(std::move(node)); }
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  struct Attempt {
    int failures = 0;
    base::TimePoint next;
  };
  base::Task<base::Result<Requeue>> reconcile(std::string node);
  base::Task<base::Result<Requeue>> drain(scheduling::NodeRecordPtr record);
  base::Task<void> evict(scheduling::PodPtr pod, std::string node, std::string why);

  Services& services_;
  std::map<std::string, Attempt, std::less<>> attempts_;  // evictions refused so far, by pod uid
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
