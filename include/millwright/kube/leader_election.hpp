// Leader election by a coordination.k8s.io Lease, compatible with client-go's. The leader renews
// the lease; another candidate takes over once the lease has not changed for its duration by the
// candidate's own clock. Candidates also look at the moment when a lease runs out, so that they
// take over within a retry period; client-go's may need more than four.
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
  // Awaited after `stop`, before the lease is given up: finishes what must be over before another
  // replica leads. Should take less than lease_duration.
  std::function<base::Task<void>()> drain;
};

// client-go's rules: lease_duration > renew_deadline > 1.2 x retry_period, and an identity.
base::Result<> check(const LeaderElectionOptions& options);

// Runs until `stop`, then gives the lease up. `on_started` gets a stop token that fires when
// leadership is lost; `on_stopped` is called after that. A leader that lost the lease becomes a
// candidate again. When check() refuses the options, logs its error and returns.
base::Task<void> run_leader_election(Client& client, LeaderElectionOptions options,
                                     std::function<void(std::stop_token)> on_started,
                                     std::function<void()> on_stopped, base::Logger log,
                                     std::stop_token stop);

}  // namespace millwright::kube
