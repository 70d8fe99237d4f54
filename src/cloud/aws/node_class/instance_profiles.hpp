// The IAM instance profiles of EC2NodeClasses: one is created for each role that a class names
// (Karpenter's instance profile provider). A profile keeps its role, because instances run with it:
// a class whose role is edited gets another profile, and the one before is deleted once no instance
// uses it. Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"

#include <map>
#include <string>

namespace millwright::cloud::aws {

class InstanceProfiles {
 public:
  InstanceProfiles(Api& api, std::string cluster_name)
      : api_(api), ec2_(api), cluster_name_(std::move(cluster_name)) {}

  struct Profile {
    std::string name;     // empty: there is none
    std::string problem;  // why there is none
  };
  // The profile that the class names; or its own for its role, created if there is none. An error
  // when a call failed that may succeed later.
  base::Task<ApiResult<Profile>> ensure(NodeClassPtr node_class);
  // Deletes the profiles that were made for the class.
  base::Task<ApiResult<>> remove_all_of(NodeClassPtr node_class);

 private:
  std::string path_of(const model::NodeClass& node_class) const;
  std::string name_for(const NodeClassSpec& spec) const;
  // Deletes those of the class's other profiles that were without instances for a while.
  base::Task<void> collect(NodeClassPtr node_class, std::string current);
  base::Task<ApiResult<bool>> is_used(std::string arn);

  Api& api_;
  Ec2 ec2_;
  std::string cluster_name_;
  std::map<std::string, base::TimePoint> checked_;  // by name: until when it is known to be right
  std::map<std::string, base::TimePoint> unused_;   // by name: old ones, since when
};

}  // namespace millwright::cloud::aws
