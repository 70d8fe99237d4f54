// The end of a Node that is being deleted (Karpenter's node.termination): it is closed to new pods,
// drained tier by tier through the Eviction API, its volumes are detached, its instance is ended,
// and only then its finalizer is removed. Before the node counts as drained, the API server is
// asked for its pods: some may have been bound while a watch was cut off. A Node whose NodeClaim is
// gone is drained, too; its instance is garbage then, and collected.
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <memory>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class Evictions;

class Termination {
 public:
  explicit Termination(Services& services);
  ~Termination();
  void enqueue(std::string node) { reconciler_.enqueue(std::move(node)); }
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string node, base::Logger log,
                                              std::stop_token stop);
  struct Drained {
    std::shared_ptr<const model::NodeClaim> claim;  // with its new conditions; may be nullptr
    Requeue wait;                                   // nothing: the node is empty
  };
  base::Task<base::Result<Drained>> drain(scheduling::NodeRecordPtr record, std::stop_token stop);
  // Evicts what the API server, not a watch, says is there. How long to wait; nothing: the node is
  // empty.
  base::Task<base::Result<Requeue>> drain_unseen(scheduling::NodeRecordPtr record,
                                                 std::stop_token stop);

  Services& services_;
  std::unique_ptr<Evictions> evictions_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
