// The few operations of SSM, EKS and IAM that the adapter needs.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/aws/calls/cluster_facts.hpp"
#include "millwright/model/labels.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::aws {

// SSM: the value of a parameter; NotFound when there is none.
base::Task<ApiResult<std::string>> get_parameter(Api& api, std::string name);

// EKS. NotFound when the account has no such cluster.
base::Task<ApiResult<ClusterFacts>> describe_cluster(Api& api, std::string name);

// IAM: creates the instance profile, with `role`. Invalid when there is one with another role.
struct ProfileRequest {
  std::string name;
  std::string path;
  std::string role;
  model::StringMap tags;
};
base::Task<ApiResult<>> ensure_instance_profile(Api& api, ProfileRequest request);
struct ProfileFound {
  std::string name;
  std::string arn;
};
// The profiles under a path.
base::Task<ApiResult<std::vector<ProfileFound>>> instance_profiles(Api& api, std::string path);
// Takes the role out of it first. Success when it is gone already.
base::Task<ApiResult<>> delete_instance_profile(Api& api, std::string name);

}  // namespace millwright::cloud::aws
