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

// IAM: creates the instance profile, or changes it, so that it contains exactly `role`.
struct ProfileRequest {
  std::string name;
  std::string path;
  std::string role;
  model::StringMap tags;
};
base::Task<ApiResult<>> ensure_instance_profile(Api& api, ProfileRequest request);
// The names of the profiles under a path.
base::Task<ApiResult<std::vector<std::string>>> instance_profiles(Api& api, std::string path);
// Takes the role out of it first. Success when it is gone already.
base::Task<ApiResult<>> delete_instance_profile(Api& api, std::string name);

}  // namespace millwright::cloud::aws
