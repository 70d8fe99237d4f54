// From a NodeClaim to a running instance: plan, launch templates, CreateFleet, what went wrong.
// Loop thread only.
#pragma once

#include "cloud/aws/catalog.hpp"
#include "cloud/aws/ec2.hpp"
#include "cloud/aws/launch_request.hpp"
#include "cloud/aws/resolver.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/cloud/provider.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

using ClaimPtr = std::shared_ptr<const model::NodeClaim>;
using NodeClassPtr = std::shared_ptr<const model::NodeClass>;

// Where an instance was made: what the provider needs to describe it.
struct Launched {
  std::string instance_id;
  std::string type;
  std::string zone;
  std::string capacity_type;
  std::string image_id;
};

class Launcher {
 public:
  struct Parts {
    Api& api;
    Catalog& catalog;
    Resolver& resolver;
    std::string cluster_name;
    base::Metrics& metrics;
    base::Logger log;
    std::function<void()> on_sold_out;  // offerings were marked unavailable
  };
  explicit Launcher(Parts parts) : parts_(std::move(parts)), ec2_(parts_.api) {}

  // The claim's UID is the fleet's client token: AWS answers a repeated call with the first one's
  // instance.
  base::Task<base::Result<Launched>> launch(ClaimPtr claim, NodeClassPtr node_class,
                                            ClusterFacts cluster);
  // The living instance that an earlier launch for the claim made; NotFound when there is none.
  // EC2 shows new instances late: `tries` says how often to look, seconds apart.
  base::Task<base::Result<Ec2Instance>> find_by_claim(ClaimPtr claim, int tries);
  // Deletes this cluster's launch templates that were not used for a while. Only where launches
  // happen, on the leader: elsewhere nothing is known of their use.
  base::Task<void> collect_templates();
  base::Task<ApiResult<>> delete_templates_of(std::string node_class);

 private:
  base::Task<base::Result<std::string>> ensure_template(TemplateRequest request);
  base::Task<base::Result<std::vector<std::string>>> ensure_templates(
      ClaimPtr claim, NodeClassPtr node_class, std::shared_ptr<const LaunchPlan> plan,
      ClusterFacts cluster);
  base::Task<ApiResult<FleetAnswer>> call_fleet(ClaimPtr claim, NodeClassPtr node_class,
                                                std::shared_ptr<const LaunchPlan> plan,
                                                std::vector<std::string> templates);
  void note_errors(const FleetAnswer& answer, std::string_view capacity_type);
  base::Error explain(const model::NodeClaim& claim, const FleetAnswer& answer) const;

  Parts parts_;
  Ec2 ec2_;
  std::map<std::string, base::TimePoint, std::less<>> templates_;  // name -> last used
  // Templates that are being made, and who waits for them: a burst of claims needs each only once.
  std::map<std::string, std::vector<base::Promise<base::Result<>>>, std::less<>> creating_;
};

}  // namespace millwright::cloud::aws
