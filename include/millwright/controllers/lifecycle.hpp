// One NodeClaim from birth to death: launch, registration, initialization, liveness, and after its
// deletion the wait for its node and instance to go (Karpenter's nodeclaim.lifecycle).
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <stop_token>
#include <string>

namespace millwright::controllers {

class Lifecycle {
 public:
  explicit Lifecycle(Services& services);
  void enqueue(std::string claim) { reconciler_.enqueue(std::move(claim)); }
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string claim, std::stop_token stop);

  Services& services_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
