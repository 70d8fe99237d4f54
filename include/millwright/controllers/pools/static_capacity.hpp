// Keeps as many nodes as a static NodePool asks for (spec.replicas; Karpenter's static.provisioning
// and static.deprovisioning, feature gate StaticCapacity).
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <stop_token>
#include <string>

namespace millwright::controllers {

class StaticCapacity {
 public:
  explicit StaticCapacity(Services& services);
  void enqueue(std::string pool) { reconciler_.enqueue(std::move(pool)); }
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string pool, base::Logger log);

  Services& services_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
