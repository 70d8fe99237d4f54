// Leader election by a coordination.k8s.io Lease, compatible with client-go's. The leader renews
// the lease; another candidate takes over once the lease has not changed for its duration by the
// candidate's own clock. Candidates also look at the moment when a lease runs out, so that they
// take over within a retry period; client-go's may need more than four.
//
// A term ends renew_deadline after the last renewal that the API server confirmed, counted from
// when that was sent. Others wait for lease_duration, so that between two leaders there is the
// difference of the two, for what was sent before the end.
#pragma once

#include "millwright/base/leadership.hpp"
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
  // How long the work of a term may take to end once the term is over.
  std::chrono::seconds end_limit{30};
};

// client-go's rules: lease_duration > renew_deadline > 1.2 x retry_period, and an identity.
base::Result<> check(const LeaderElectionOptions& options);

// What a replica does with its terms. All but is_rewound are set.
struct LeaderDuties {
  // The work of one term, until its token fires. The next term begins after this has returned: two
  // terms would share what is in memory, and one would end what the other has begun.
  std::function<base::Task<void>(std::stop_token stop)> lead;
  // The token has fired; lead() may still be ending.
  std::function<void()> on_end;
  // lead() did not return within end_limit. To end the process is the only safe way on.
  std::function<void()> on_stuck;
  // The lease is older than it was: etcd was restored from a backup. Candidates and leaders see
  // that within seconds, while a watch that goes on from a version of the lost history says
  // nothing, and may never. This replica neither takes the lease any more nor gives it up.
  std::function<void()> on_rewound;
  // The same was seen elsewhere, by a list for example.
  std::function<bool()> is_rewound = [] { return false; };
};

// Runs until `stop`, then waits for lead() and gives the lease up. After a restore of etcd it does
// not: the lease stays as the backup has it, so that each replica sees the restore by it, and the
// next term may begin lease_duration later. `leadership` holds from the first renewal of a term to
// its end; when the replica is stopped, until lead() has returned. A leader that lost the lease
// becomes a candidate again. When check() refuses the options, logs its error and returns.
base::Task<void> run_leader_election(Client& client, LeaderElectionOptions options,
                                     base::Leadership& leadership, LeaderDuties duties,
                                     base::Logger log, std::stop_token stop);

}  // namespace millwright::kube
