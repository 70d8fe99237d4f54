// Which images an ECSNodeClass's terms select. Loop thread only.
#pragma once

#include "cloud/alibaba/calls/cs.hpp"
#include "cloud/alibaba/calls/ecs.hpp"
#include "cloud/alibaba/node_class/node_class_spec.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::alibaba {

// ACK's images of the family that the alias names, of its version when it names one; the newest
// image of each architecture first. Pure.
std::vector<Image> images_of_alias(std::vector<Image> all, std::string_view alias);

// An image for the status, with what it requires of types.
ResolvedImage resolved(const Image& image);

class Images {
 public:
  explicit Images(Api& api) : ecs_(api), cs_(api) {}

  // In the order of terms; of one term the newest of each architecture first.
  base::Task<ApiResult<std::vector<ResolvedImage>>> find(std::vector<SelectorTerm> terms,
                                                         std::string kubernetes);

 private:
  base::Task<ApiResult<std::vector<Image>>> of_term(SelectorTerm term, std::string kubernetes);

  Ecs ecs_;
  Cs cs_;
};

}  // namespace millwright::cloud::alibaba
