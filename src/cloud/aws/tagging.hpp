// Instances named after the Node and NodeClaim that they became (Karpenter's nodeclaim.tagging
// controller). Looks at the instance's tags instead of noting on the claim that it was done.
// Loop thread only.
#pragma once

#include "cloud/aws/ec2.hpp"
#include "millwright/base/log.hpp"
#include "millwright/model/karpenter.hpp"

#include <set>
#include <string>

namespace millwright::cloud::aws {

// What a registered claim's instance lacks: Name, karpenter.sh/nodeclaim and the cluster's tag.
// A Name that the EC2NodeClass gave stays.
model::StringMap missing_tags(const model::NodeClaim& claim, const Ec2Instance& instance,
                              const std::string& cluster);

class Tagging {
 public:
  Tagging(Api& api, std::string cluster_name, base::Logger log)
      : ec2_(api),
        cluster_name_(std::move(cluster_name)),
        log_(std::move(log)),
        group_(api.loop()) {}

  // In the background; a call that fails is made again when the instance is looked at next.
  void look_at(const model::NodeClaim& claim, const Ec2Instance& instance);

 private:
  base::Task<void> tag(std::string instance, model::StringMap tags);

  Ec2 ec2_;
  std::string cluster_name_;
  base::Logger log_;
  std::set<std::string> underway_;
  base::TaskGroup group_;
};

}  // namespace millwright::cloud::aws
