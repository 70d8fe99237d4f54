// What a living NodeClaim says about its future: Consolidatable, Drifted, ConsistentStateFound and
// when a pod last came or went; and its end by expiry (Karpenter's nodeclaim.disruption,
// .consistency, .podevents and .expiration, each in a file of its own). One queue serves all of
// them, so that they never write the same claim against each other.
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace millwright::controllers {

class PodEvents;

class ClaimStatus {
 public:
  explicit ClaimStatus(Services& services);
  ~ClaimStatus();
  void enqueue(std::string claim) { reconciler_.enqueue(std::move(claim)); }
  // A pod (of no DaemonSet) was bound to this node, ended there or left it; nullopt: now. It is
  // noted on every replica, so that the next leader knows what the last one did not write.
  void pod_event(std::string_view node, std::optional<base::TimePoint> happened);
  // The claim is gone.
  void forget(std::string_view claim);
  base::Task<void> run(std::stop_token stop) { return reconciler_.run(std::move(stop)); }

 private:
  base::Task<base::Result<Requeue>> reconcile(std::string claim, base::Logger log);
  base::Task<base::Result<Requeue>> write(std::shared_ptr<const model::NodeClaim> claim,
                                          std::optional<base::TimePoint> pod_event);

  Services& services_;
  std::unique_ptr<PodEvents> pod_events_;
  Reconciler reconciler_;
};

}  // namespace millwright::controllers
