// Launch templates by the hash of their content: created when first needed, deleted when not used
// any more. Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "millwright/base/log.hpp"

#include <map>
#include <stop_token>
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

  // Creates the template unless it exists. Gives its name.
  base::Task<base::Result<std::string>> ensure(TemplateRequest request);
  // Somebody deleted it: the next ensure() creates it again.
  void forget(const std::string& name) { used_.erase(name); }
  // Until `stop`: deletes this cluster's templates that were not used for a while. Only on the
  // leader, which launches: other processes do not know which are in use.
  base::Task<void> run(std::stop_token stop);
  base::Task<ApiResult<>> remove_all_of(std::string node_class);

 private:
  base::Task<void> collect();

  base::Loop& loop_;
  Ec2 ec2_;
  std::string cluster_name_;
  base::Logger log_;
  std::map<std::string, base::TimePoint, std::less<>> used_;  // name -> when last
  // Templates that are being created, and who waits for them: a burst of claims creates each once.
  std::map<std::string, std::vector<base::Promise<base::Result<>>>, std::less<>> creating_;
};

}  // namespace millwright::cloud::aws
