// What a living NodeClaim says about its future: Consolidatable, Drifted, and when a pod last came
// or went; and its end by expiry (Karpenter's nodeclaim.disruption, .podevents and .expiration).
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <map>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class ClaimStatus {
 public:
  explicit ClaimStatus(Services& services);
  void enqueue(std::string claim) { reconciler_.enqueue(std::move(claim)); }
  // A pod (of no DaemonSet) bound to, ended on or left this node.
  void pod_event(std::string_view node);
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string claim);

  Services& services_;
  std::map<std::string, base::TimePoint, std::less<>> pod_events_;  // by claim, not yet written
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
