// Tags instances with the names of their Node and NodeClaim (Karpenter's nodeclaim.tagging
// controller). The instance's tags say whether that was done; nothing is noted on the claim. Loop
// thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "millwright/base/log.hpp"
#include "millwright/model/karpenter.hpp"

#include <set>
#include <string>

namespace millwright::cloud::aws {

// The tags that a registered claim's instance lacks: Name, karpenter.sh/nodeclaim and the
// cluster's. A Name given by the EC2NodeClass is not changed.
model::StringMap missing_tags(const model::NodeClaim& claim, const Ec2Instance& instance,
                              const std::string& cluster);

class Tagging {
 public:
  Tagging(Api& api, std::string cluster_name, base::Logger log)
      : ec2_(api),
        cluster_name_(std::move(cluster_name)),
        log_(std::move(log)),
        group_(api.loop()) {}

  // Whether tags are missing. They are written in the background; a call that fails is repeated
  // when the instance is looked at next.
  bool look_at(const model::NodeClaim& claim, const Ec2Instance& instance);

 private:
  base::Task<void> tag(std::string instance, model::StringMap tags);

  Ec2 ec2_;
  std::string cluster_name_;
  base::Logger log_;
  std::set<std::string> underway_;
  base::TaskGroup group_;
};

}  // namespace millwright::cloud::aws
