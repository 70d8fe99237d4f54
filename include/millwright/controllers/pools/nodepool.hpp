// Keeps what a NodePool says about itself: its hash for static drift, whether it is valid, whether
// its NodeClass is ready and its nodes register, and the sum of its nodes (Karpenter's
// nodepool.hash, .validation, .readiness, .registrationhealth and .counter). The sum is
// written at most once a second, everything else at once.
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <map>
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
  // How long the pool's sum must wait to be written; nothing: it need not.
  Requeue until_usage_is_due(const std::string& pool) const;

  Services& services_;
  std::map<std::string, base::TimePoint, std::less<>> usage_written_;  // by pool
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
