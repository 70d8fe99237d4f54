// DescribeInstances and TerminateInstances, batched: callers ask about one instance each and share
// the calls. Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/common/pace/batcher.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::aws {

// NotFound, for an instance that does not exist.
base::Error no_such_instance(const std::string& id);

class InstanceBatches {
 public:
  InstanceBatches(Api& api, base::Metrics& metrics);

  // NotFound when EC2 does not know it.
  base::Task<base::Result<Ec2Instance>> describe(std::string id) {
    return describes_.ask(std::move(id));
  }
  base::Task<base::Result<>> terminate(std::string id);

 private:
  using Describes = Batcher<std::string, Ec2Instance>;
  using Terminations = Batcher<std::string, bool>;
  base::Task<Describes::Replies> describe_all(std::vector<std::string> ids);
  base::Task<Terminations::Replies> terminate_all(std::vector<std::string> ids);

  Ec2 ec2_;
  Describes describes_;
  Terminations terminations_;
};

}  // namespace millwright::cloud::aws
