// Leader election by a coordination.k8s.io Lease, compatible with client-go's: the holder renews,
// others take over when the lease has not changed for its duration by their own clock, and no later
// than a retry period after that: unlike client-go's candidates, which look up to 2.2 retry periods
// late twice, ours look oftener and at the very moment a lease runs out.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/kube/client.hpp"

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

namespace millwright::kube {

struct LeaderElectionOptions {
  std::string name = "karpenter-leader-election";
  std::string namespace_ = "kube-system";
  std::string identity;
  std::chrono::seconds lease_duration{15};
  std::chrono::seconds renew_deadline{10};
  std::chrono::seconds retry_period{2};
  // Awaited after `stop`, before the lease is given up: what must be over before another replica
  // may lead. Should take less than lease_duration.
  std::function<base::Task<void>()> drain;
};

// client-go's rules: lease_duration > renew_deadline > 1.2 x retry_period, and an identity.
base::Result<> check(const LeaderElectionOptions& options);

// Runs until `stop`; then gives the lease up. `on_started` gets a stop token that fires when
// leadership is lost; `on_stopped` is called after it fired. A leader that lost the lease goes on
// as a candidate. With options that check() refuses nothing happens but a logged error.
base::Task<void> run_leader_election(Client& client, LeaderElectionOptions options,
                                     std::function<void(std::stop_token)> on_started,
                                     std::function<void()> on_stopped, base::Logger log,
                                     std::stop_token stop);

}  // namespace millwright::kube
