// What an EC2NodeClass selects: subnets, security groups, images and the instance profile, with a
// condition for each (Karpenter's nodeclass sub-reconcilers). Remembers SSM parameters, instance
// profiles it has ensured and free addresses of subnets. Loop thread only.
#pragma once

#include "cloud/aws/ami_family.hpp"
#include "cloud/aws/ec2.hpp"
#include "cloud/aws/node_class_spec.hpp"
#include "cloud/aws/placement_groups.hpp"
#include "cloud/aws/reservations.hpp"
#include "cloud/aws/services.hpp"
#include "millwright/cloud/provider.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

class Resolver {
 public:
  // Without `reserved_capacity` (the gate ReservedCapacity) reservations are not looked for.
  Resolver(Api& api, std::string cluster_name, bool reserved_capacity = true)
      : api_(api),
        ec2_(api),
        cluster_name_(std::move(cluster_name)),
        reserved_capacity_(reserved_capacity) {}

  // Errors are of calls that failed; what is not there is a condition.
  base::Task<ApiResult<NodeClassState>> resolve(std::shared_ptr<const model::NodeClass> node_class,
                                                std::string kubernetes);

  // Free addresses of a subnet, less those that launches since then have taken; 0 when not known.
  std::int64_t free_addresses(std::string_view subnet) const;
  void take_address(const std::string& subnet) { --free_addresses_[subnet]; }
  void give_back_address(const std::string& subnet) { ++free_addresses_[subnet]; }

  // Tells the ledger how many instances are left in the reservations that resolve() found since the
  // last call. True when that was news.
  bool tell_reservations(ReservationLedger& ledger);
  // The reservations that resolve() has found so far, but for those that ended.
  std::vector<std::string> reservation_ids() const { return {known_.begin(), known_.end()}; }
  void reservation_ended(const std::string& id) {
    known_.erase(id);
    block_ends_.erase(id);
  }
  // Capacity blocks that EC2 is about to end.
  std::set<std::string, std::less<>> expiring_blocks(base::TimePoint now) const;

  // Tells what resolve() found that placement group selectors stand for. True when that was news.
  bool tell_placements(PlacementGroups& groups) const;

  // Where the class's instance profiles live in IAM.
  std::string profile_path(const model::NodeClass& node_class) const;

 private:
  struct Selected {
    std::vector<Subnet> subnets;
    std::vector<ResolvedGroup> groups;
    std::vector<ResolvedImage> images;
    std::string image_problem;
    std::vector<ResolvedReservation> reservations;
  };
  void keep_reservations(std::vector<Reservation> found, std::vector<ResolvedReservation>& into);
  struct Profile {
    std::string name;     // empty: there is none
    std::string problem;  // why
  };
  base::Task<ApiResult<std::vector<Subnet>>> find_subnets(std::vector<SelectorTerm> terms);
  base::Task<ApiResult<std::vector<ResolvedGroup>>> find_groups(std::vector<SelectorTerm> terms);
  base::Task<ApiResult<std::vector<ResolvedImage>>> find_images(NodeClassSpec spec,
                                                                std::string kubernetes);
  base::Task<ApiResult<std::vector<AliasedImage>>> find_parameters(NodeClassSpec spec,
                                                                   std::string kubernetes);
  // nullopt: there is no such parameter.
  base::Task<ApiResult<std::optional<std::string>>> parameter(std::string name, bool fixed);
  // nullopt: the class has no selector and never had one.
  base::Task<ApiResult<std::optional<NodeClassCondition>>> resolve_placement(
      std::shared_ptr<const model::NodeClass> node_class);
  base::Task<ApiResult<Profile>> ensure_profile(std::shared_ptr<const model::NodeClass> node_class);

  Api& api_;
  Ec2 ec2_;
  std::string cluster_name_;
  bool reserved_capacity_;
  std::map<std::string, std::int64_t, std::less<>> free_addresses_;
  struct Kept {
    std::string value;
    base::TimePoint until;
  };
  std::map<std::string, Kept> parameters_;
  std::map<std::string, Kept> profiles_;  // name -> role
  struct Placement {
    std::optional<PlacementGroup> group;
    base::TimePoint until{};  // how long it stands while EC2 does not answer
  };
  std::map<PlacementSelector, Placement> placements_;
  std::map<std::string, std::int64_t> reserved_;  // reservation -> instances left
  std::set<std::string> known_;
  std::map<std::string, base::TimePoint> block_ends_;
};

boost::json::value status_json(const std::vector<Subnet>& subnets,
                               const std::vector<ResolvedGroup>& groups,
                               const std::vector<ResolvedImage>& images,
                               const std::vector<ResolvedReservation>& reservations,
                               const std::string& profile);

// The requirements that an image's tags and architecture put on types.
std::vector<model::SelectorRequirement> requirements_of(const Image& image);

}  // namespace millwright::cloud::aws
