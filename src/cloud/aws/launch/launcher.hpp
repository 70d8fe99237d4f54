// From a NodeClaim to a running instance: plan, launch templates, CreateFleet. Finds the instance
// that an earlier call or process launched for the claim, and explains launches that fail. Loop
// thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/catalog/catalog.hpp"
#include "cloud/aws/launch/asked_addresses.hpp"
#include "cloud/aws/launch/fleets.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "cloud/aws/launch/launch_templates.hpp"
#include "cloud/aws/launch/ownership.hpp"
#include "cloud/aws/node_class/resolver.hpp"
#include "cloud/common/catalog/restock.hpp"
#include "cloud/common/inherited_claims.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/cloud/provider.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

using ClaimPtr = std::shared_ptr<const model::NodeClaim>;

// A dry run's outcome: why EC2 refuses to launch the class. An empty reason means success.
struct DryRun {
  std::string reason;
  std::string message;
};

class Launcher {
 public:
  struct Parts {
    Api& api;
    Catalog& catalog;
    Restock& restock;
    Resolver& resolver;
    std::string cluster_name;
    bool reserved_capacity;  // the feature gate ReservedCapacity
    base::Metrics& metrics;
    base::Logger log;
  };
  explicit Launcher(Parts parts);

  // As InheritedClaims::take_over().
  void inherit(base::TimePoint now, base::TimePoint newest) {
    inherited_.take_over(now, newest);
    ownership_.begin_term();
  }
  // The instance of an earlier launch for the claim; NotFound when there is none. Waits while an
  // instance may exist that EC2 does not show yet.
  base::Task<base::Result<Launched>> adopt(ClaimPtr claim, NodeClassPtr node_class);
  base::Task<base::Result<Launched>> launch(ClaimPtr claim, NodeClassPtr node_class,
                                            ClusterFacts cluster);
  // Asks EC2 whether we may launch the class's machines, and launches none. An error when EC2 could
  // not be asked, or no machine fits the class.
  base::Task<base::Result<DryRun>> dry_run(NodeClassPtr node_class, ClusterFacts cluster);
  // Forgets claims that vanished long ago.
  void sweep();
  // The running instance whose tags name the claim; NotFound when there is none.
  base::Task<base::Result<Ec2Instance>> find_by_claim(ClaimPtr claim);

  LaunchTemplates& templates() { return templates_; }
  Ownership& ownership() { return ownership_; }
  const Ownership& ownership() const { return ownership_; }

 private:
  // A launch whose answer is not known: the claim may have an instance.
  struct Doubt {
    base::TimePoint since;
    // When the last call was made that was for other claims too: it cannot be repeated, and what it
    // may have launched is any of its claims'. A call for one claim names it and is repeated.
    std::optional<base::TimePoint> merged_at = {};
    // A call for this claim alone may have taken effect: its repeat answers with what it launched.
    bool own_call = false;
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
  // Whether an instance that names no claim may be this one's.
  enum class Unnamed : std::uint8_t {
    NotOurs,
    MayBeOurs,  // another process led: one that names the claim may still come to be shown
    Ours,       // we asked for several claims at once
  };
  base::Task<base::Result<Ec2Instance>> look_for(ClaimPtr claim, NodeClassPtr node_class,
                                                 base::TimePoint until, Unnamed unnamed);
  base::Task<base::Result<Ec2Instance>> choose_unrecorded(ClaimPtr claim, NodeClassPtr node_class);
  base::Result<LaunchPlan> plan(const model::NodeClaim& claim, const model::NodeClass& node_class);
  Launched take(const model::NodeClaim& claim, const LaunchPlan& plan, const FleetInstance& made);
  void note_errors(const FleetAnswer& answer, const LaunchPlan& plan);
  static base::Error explain(const model::NodeClaim& claim, const FleetAnswer& answer);
  // The reservation that the plan uses for the type in the zone; empty when it uses none.
  static std::string reservation_of(const LaunchPlan& plan, std::string_view type,
                                    std::string_view zone);

  Parts parts_;
  Ec2 ec2_;
  LaunchTemplates templates_;
  Fleets fleets_;
  AskedAddresses asked_addresses_;
  Ownership ownership_;
  InheritedClaims inherited_;
  std::map<std::string, Doubt, std::less<>> doubts_;  // by the claim's UID
};

}  // namespace millwright::cloud::aws
