// From a NodeClaim to a running instance: plan, launch templates, CreateFleet, what went wrong, and
// what an earlier call or process has made for it already. Loop thread only.
#pragma once

#include "cloud/aws/catalog.hpp"
#include "cloud/aws/ec2.hpp"
#include "cloud/aws/fleets.hpp"
#include "cloud/aws/launch_request.hpp"
#include "cloud/aws/launch_templates.hpp"
#include "cloud/aws/ownership.hpp"
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

// What a launch that was only judged said against the class; no reason: nothing.
struct DryRun {
  std::string reason;
  std::string message;
};

class Launcher {
 public:
  struct Parts {
    Api& api;
    Catalog& catalog;
    Resolver& resolver;
    std::string cluster_name;
    bool reserved_capacity;  // the gate of that name
    base::Metrics& metrics;
    base::Logger log;
    std::function<void()> on_sold_out;  // offerings were marked unavailable
  };
  explicit Launcher(Parts parts);

  // Claims made before `now` may have been launched by another process. Their timestamps have whole
  // seconds; no process leads within a second of another's end.
  void inherit(base::TimePoint now) { inherited_ = std::chrono::floor<std::chrono::seconds>(now); }
  // What an earlier launch for the claim made; NotFound when that is nothing. Waits, where an
  // instance may exist that EC2 does not show yet.
  base::Task<base::Result<Launched>> adopt(ClaimPtr claim, NodeClassPtr node_class);
  base::Task<base::Result<Launched>> launch(ClaimPtr claim, NodeClassPtr node_class,
                                            ClusterFacts cluster);
  // Asks AWS whether it would let the class's machines be launched, and launches none. An error
  // when AWS could not be asked, or the class fits no machine.
  base::Task<base::Result<DryRun>> dry_run(NodeClassPtr node_class, ClusterFacts cluster);
  // Forgets what is known of claims that vanished long ago.
  void sweep();
  // The living instance whose tags say that it is the claim's; NotFound when there is none.
  base::Task<base::Result<Ec2Instance>> find_by_claim(ClaimPtr claim);

  LaunchTemplates& templates() { return templates_; }
  Ownership& ownership() { return ownership_; }
  const Ownership& ownership() const { return ownership_; }

 private:
  // Since when it is not known whether the claim has an instance.
  struct Doubt {
    base::TimePoint since;
    bool merged = false;  // its call was for others too, and cannot be repeated
  };
  base::Task<base::Result<std::vector<std::string>>> ensure_templates(
      ClaimPtr claim, NodeClassPtr node_class, std::shared_ptr<const LaunchPlan> plan,
      ClusterFacts cluster);
  base::Task<base::Result<FleetShare>> order(ClaimPtr claim, NodeClassPtr node_class,
                                             std::shared_ptr<const LaunchPlan> plan,
                                             std::vector<std::string> templates);
  base::Task<base::Result<Launched>> launch_planned(ClaimPtr claim, NodeClassPtr node_class,
                                                    std::shared_ptr<const LaunchPlan> plan,
                                                    ClusterFacts cluster);
  base::Task<base::Result<DryRun>> dry_run_instances(NodeClassPtr node_class,
                                                     std::shared_ptr<const LaunchPlan> plan,
                                                     std::string launch_template);
  base::Task<base::Result<Ec2Instance>> look_for(ClaimPtr claim, NodeClassPtr node_class,
                                                 base::TimePoint until);
  base::Task<base::Result<Ec2Instance>> choose_unrecorded(ClaimPtr claim, NodeClassPtr node_class);
  base::Result<LaunchPlan> plan(const model::NodeClaim& claim, const model::NodeClass& node_class);
  bool is_inherited(const model::NodeClaim& claim) const;
  Launched take(const model::NodeClaim& claim, const LaunchPlan& plan, const FleetInstance& made);
  void note_errors(const FleetAnswer& answer, const LaunchPlan& plan);
  static base::Error explain(const model::NodeClaim& claim, const FleetAnswer& answer);
  // The reservation that the plan takes for the type in the zone; empty when it takes none.
  static std::string reservation_of(const LaunchPlan& plan, std::string_view type,
                                    std::string_view zone);

  Parts parts_;
  Ec2 ec2_;
  LaunchTemplates templates_;
  Fleets fleets_;
  Ownership ownership_;
  base::TimePoint inherited_;
  std::map<std::string, Doubt, std::less<>> doubts_;  // by the claim's UID
};

}  // namespace millwright::cloud::aws
