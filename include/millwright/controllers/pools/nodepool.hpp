// Keeps what a NodePool says about itself: its hash for static drift, whether it is valid, whether
// its NodeClass is ready and its nodes register, and the sum of its nodes (Karpenter's
// nodepool.hash, .validation, .readiness, .registrationhealth and .counter).
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <stop_token>
#include <string>

namespace millwright::controllers {

class NodePools {
 public:
  explicit NodePools(Services& services);
  void enqueue(std::string pool) { reconciler_.enqueue(std::move(pool)); }
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string pool);
  Services& services_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
