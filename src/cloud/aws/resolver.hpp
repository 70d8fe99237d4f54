// What an EC2NodeClass selects: subnets, security groups, images and the instance profile, with a
// condition for each (Karpenter's nodeclass sub-reconcilers). Remembers SSM parameters, instance
// profiles it has ensured and free addresses of subnets. Loop thread only.
#pragma once

#include "cloud/aws/ami_family.hpp"
#include "cloud/aws/ec2.hpp"
#include "cloud/aws/node_class_spec.hpp"
#include "cloud/aws/services.hpp"
#include "millwright/cloud/provider.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

class Resolver {
 public:
  Resolver(Api& api, std::string cluster_name)
      : api_(api), ec2_(api), cluster_name_(std::move(cluster_name)) {}

  // Errors are of calls that failed; what is not there is a condition.
  base::Task<ApiResult<NodeClassState>> resolve(std::shared_ptr<const model::NodeClass> node_class,
                                                std::string kubernetes);

  // Free addresses of a subnet, less those that launches since then have taken; 0 when not known.
  std::int64_t free_addresses(std::string_view subnet) const;
  void take_address(const std::string& subnet) { --free_addresses_[subnet]; }
  void give_back_address(const std::string& subnet) { ++free_addresses_[subnet]; }

  // Where the class's instance profiles live in IAM.
  std::string profile_path(const model::NodeClass& node_class) const;

 private:
  struct Selected {
    std::vector<Subnet> subnets;
    std::vector<ResolvedGroup> groups;
    std::vector<ResolvedImage> images;
    std::string image_problem;
  };
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
  base::Task<ApiResult<Profile>> ensure_profile(std::shared_ptr<const model::NodeClass> node_class);

  Api& api_;
  Ec2 ec2_;
  std::string cluster_name_;
  std::map<std::string, std::int64_t, std::less<>> free_addresses_;
  struct Kept {
    std::string value;
    base::TimePoint until;
  };
  std::map<std::string, Kept> parameters_;
  std::map<std::string, Kept> profiles_;  // name -> role
};

boost::json::value status_json(const std::vector<Subnet>& subnets,
                               const std::vector<ResolvedGroup>& groups,
                               const std::vector<ResolvedImage>& images,
                               const std::string& profile);

// The requirements that an image's tags and architecture put on types.
std::vector<model::SelectorRequirement> requirements_of(const Image& image);

}  // namespace millwright::cloud::aws
