// What an EC2NodeClass selects: subnets, security groups, images, reservations, placement group and
// the instance profile, with a condition for each (Karpenter's nodeclass sub-reconcilers). Loop
// thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/node_class/capacity_reservations.hpp"
#include "cloud/aws/node_class/images.hpp"
#include "cloud/aws/node_class/instance_profiles.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"
#include "cloud/aws/node_class/placement_groups.hpp"
#include "millwright/cloud/provider.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

struct ResolverSettings {
  std::string cluster_name;
  bool reserved_capacity = true;  // the gate ReservedCapacity: look for reservations
  base::Duration image_refresh{};
  base::Duration subnet_refresh{};
  std::string ca_bundle;  // as it counts in the drift hash
};

class Resolver {
 public:
  Resolver(Api& api, ResolverSettings settings)
      : api_(api),
        ec2_(api),
        settings_(std::move(settings)),
        images_(api, settings_.image_refresh),
        placements_(api),
        profiles_(api, settings_.cluster_name) {}

  // An error when a call failed. A selector that finds nothing makes a condition false.
  base::Task<ApiResult<NodeClassState>> resolve(NodeClassPtr node_class, std::string kubernetes);

  // Free addresses of a subnet, less those that launches since then have taken; 0 when not known.
  std::int64_t free_addresses(std::string_view subnet) const;
  void take_address(const std::string& subnet) { --free_addresses_[subnet]; }

  SelectedReservations& reservations() { return reservations_; }
  const PlacementLookups& placements() const { return placements_; }
  InstanceProfiles& profiles() { return profiles_; }

 private:
  struct Selected {
    std::vector<Subnet> subnets;
    std::vector<SecurityGroup> groups;
    std::vector<ResolvedImage> images;
    std::string image_problem;
    std::vector<CapacityReservation> reservations;
    std::optional<NodeClassCondition> placement;
    InstanceProfiles::Profile profile;
  };
  base::Task<ApiResult<Selected>> select(NodeClassPtr node_class, std::string kubernetes);
  base::Task<ApiResult<std::vector<Subnet>>> find_subnets(std::vector<SelectorTerm> terms);
  base::Task<ApiResult<std::vector<SecurityGroup>>> find_groups(std::vector<SelectorTerm> terms);
  std::vector<NodeClassCondition> conditions_of(const Selected& selected) const;

  Api& api_;
  Ec2 ec2_;
  ResolverSettings settings_;
  Images images_;
  SelectedReservations reservations_;
  PlacementLookups placements_;
  InstanceProfiles profiles_;
  std::map<std::string, std::int64_t, std::less<>> free_addresses_;
  struct CachedSubnets {
    std::vector<Subnet> subnets;
    base::TimePoint until;
  };
  std::map<std::vector<SelectorTerm>, CachedSubnets> subnets_;
};

boost::json::value status_json(const std::vector<Subnet>& subnets,
                               const std::vector<SecurityGroup>& groups,
                               const std::vector<ResolvedImage>& images,
                               const std::vector<CapacityReservation>& reservations,
                               const std::string& profile);

}  // namespace millwright::cloud::aws
