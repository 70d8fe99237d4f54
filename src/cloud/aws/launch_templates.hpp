// Launch templates by the hash of their content: made when first needed, ended when not used any
// more. Loop thread only.
#pragma once

#include "cloud/aws/ec2.hpp"
#include "cloud/aws/launch_request.hpp"
#include "millwright/base/log.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

class LaunchTemplates {
 public:
  LaunchTemplates(Api& api, std::string cluster_name, base::Logger log)
      : loop_(api.loop()),
        ec2_(api),
        cluster_name_(std::move(cluster_name)),
        log_(std::move(log)) {}

  // Gives its name.
  base::Task<base::Result<std::string>> ensure(TemplateRequest request);
  // Somebody deleted it: the next ensure() makes it again.
  void forget(const std::string& name) { used_.erase(name); }
  // Deletes this cluster's templates that were not used for a while. Only where launches happen,
  // on the leader: elsewhere nothing is known of their use.
  base::Task<void> collect();
  base::Task<ApiResult<>> remove_all_of(std::string node_class);

 private:
  base::Loop& loop_;
  Ec2 ec2_;
  std::string cluster_name_;
  base::Logger log_;
  std::map<std::string, base::TimePoint, std::less<>> used_;  // name -> when last
  // Templates that are being made, and who waits for them: a burst of claims needs each only once.
  std::map<std::string, std::vector<base::Promise<base::Result<>>>, std::less<>> creating_;
};

}  // namespace millwright::cloud::aws
