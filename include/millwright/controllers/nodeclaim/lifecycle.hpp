// One NodeClaim from creation to its end: launch, registration, initialization, liveness, and once
// it is deleted the end of its node and instance (Karpenter's nodeclaim.lifecycle).
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <memory>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class LaunchFailures;

class Lifecycle {
 public:
  explicit Lifecycle(Services& services);
  ~Lifecycle();
  void enqueue(std::string claim) { reconciler_.enqueue(std::move(claim)); }
  // After a change of the claim's status alone, which is often its own.
  void nudge(std::string claim) { reconciler_.nudge(std::move(claim)); }
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string claim, base::Logger log,
                                              std::stop_token stop);

  Services& services_;
  std::unique_ptr<LaunchFailures> failures_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
