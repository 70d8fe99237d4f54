// The images that an EC2NodeClass selects: by id, name and tags, by SSM parameter, and by alias
// (Karpenter's amifamily provider). Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/launch/ami_family.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

class Images {
 public:
  // EC2 is asked again about the same terms after `refresh`.
  Images(Api& api, base::Duration refresh) : api_(api), ec2_(api), refresh_(refresh) {}

  // The best image of each set of requirements: the newest, deprecated ones last. `kubernetes`
  // ("1.31") says which images an alias stands for.
  base::Task<ApiResult<std::vector<ResolvedImage>>> find(std::vector<SelectorTerm> terms,
                                                         std::string kubernetes);

 private:
  base::Task<ApiResult<std::vector<ResolvedImage>>> look_up(std::vector<SelectorTerm> terms,
                                                            std::string kubernetes);
  // Image ids (in `parameter`) of aliases and SSM parameters. Empty requirements: the image's own
  // tags and architecture decide.
  base::Task<ApiResult<std::vector<AliasedImage>>> find_parameters(std::vector<SelectorTerm> terms,
                                                                   std::string kubernetes);
  // nullopt: there is no such parameter.
  base::Task<ApiResult<std::optional<std::string>>> parameter(std::string name,
                                                              base::Duration kept_for);

  Api& api_;
  Ec2 ec2_;
  base::Duration refresh_;
  struct CachedParameter {
    std::string value;
    base::TimePoint until;
  };
  std::map<std::string, CachedParameter> parameters_;
  struct CachedImages {
    std::vector<ResolvedImage> images;
    base::TimePoint until;
  };
  std::map<std::pair<std::string, std::vector<SelectorTerm>>, CachedImages> images_;
};

// The requirements that an image's tags and architecture put on types.
std::vector<model::SelectorRequirement> requirements_of(const Image& image);

}  // namespace millwright::cloud::aws
