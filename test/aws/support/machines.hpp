// Plays the machines of the facade's EC2: each boots a kubelet that knows only what its user data
// says and what hardware it is on, and is gone when it is terminated. Loop thread only.
#pragma once

#include "aws/support/facade.hpp"
#include "millwright/base/task.hpp"
#include "millwright/cloud/simulated.hpp"

#include <set>

namespace millwright::test {

// The labels, pods and capacity that such a machine's kubelet would report.
cloud::Instance boot(const Machine& machine);

class Machines {
 public:
  // `listener` makes Nodes; all three must outlive this.
  Machines(base::Loop& loop, net::Client& client, cloud::InstanceListener& listener)
      : loop_(loop), client_(client), listener_(listener) {}

  // Looks at EC2 every second of the loop's time until `stop`. Instances that were terminated
  // before it began are none of its business.
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<void> look();

  base::Loop& loop_;
  net::Client& client_;
  cloud::InstanceListener& listener_;
  std::set<std::string> running_;
};

}  // namespace millwright::test
