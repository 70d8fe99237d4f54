// The IAM instance profiles of EC2NodeClasses: one is created for each class that names a role
// (Karpenter's instance profile provider). Loop thread only.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"

#include <map>
#include <string>

namespace millwright::cloud::aws {

class InstanceProfiles {
 public:
  InstanceProfiles(Api& api, std::string cluster_name)
      : api_(api), cluster_name_(std::move(cluster_name)) {}

  struct Profile {
    std::string name;     // empty: there is none
    std::string problem;  // why there is none
  };
  // The profile that the class names; or its own, created or changed to contain the class's role.
  // An error when a call failed that may succeed later.
  base::Task<ApiResult<Profile>> ensure(NodeClassPtr node_class);
  // Deletes the profiles that were made for the class.
  base::Task<ApiResult<>> remove_all_of(NodeClassPtr node_class);

 private:
  std::string path_of(const model::NodeClass& node_class) const;

  Api& api_;
  std::string cluster_name_;
  struct Checked {
    std::string role;
    base::TimePoint until;
  };
  std::map<std::string, Checked> checked_;  // by name
};

}  // namespace millwright::cloud::aws
