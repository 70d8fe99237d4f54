// Replaces nodes that stay broken (Karpenter's node.health, feature gate NodeRepair). What that
// means the clouds say (cloud::Provider::repair_policies). The NodeClaim is deleted with no time
// left to drain: disruption budgets, PodDisruptionBudgets, do-not-disrupt and
// terminationGracePeriod do not count. Nothing is replaced while more than a fifth of the
// NodePool's nodes are broken, or of the cluster's if the claim has no NodePool. Loop thread only.
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"
#include "millwright/disruption/node_repair.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class RepairReports;

class NodeRepair {
 public:
  explicit NodeRepair(Services& services);
  ~NodeRepair();
  // By the Node's name, when anything about it may have changed.
  void enqueue(std::string node) { reconciler_.enqueue(std::move(node)); }
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string node, base::Logger log);
  // Nothing is left to do here: the claim is deleted, and nothing is waited for.
  bool is_ended(const scheduling::NodeRecord& record) const;
  // When to ask again, if the node may not be replaced now; says so in events.
  Requeue held_back(const scheduling::Snapshot& snapshot, const scheduling::NodeRecord& record,
                    const cloud::Provider& provider);
  // How many nodes are broken. Counted once for each snapshot: when a zone fails, thousands ask.
  const disruption::NodeHealth& health(const scheduling::Snapshot& snapshot,
                                       const cloud::Provider& provider);

  struct Counted {
    std::uint64_t generation = 0;  // of the snapshot
    disruption::NodeHealth health;
  };
  Services& services_;
  std::unique_ptr<RepairReports> reports_;
  std::map<const cloud::Provider*, Counted> counted_;
  // By Node, the uid of the claim deleted here: the watch may tell of that later.
  std::map<std::string, std::string, std::less<>> ended_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
