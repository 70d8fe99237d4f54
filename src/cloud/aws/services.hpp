// The few operations of SSM, EKS, Pricing and IAM that the adapter needs.
#pragma once

#include "cloud/aws/api.hpp"
#include "cloud/aws/prices.hpp"
#include "millwright/model/labels.hpp"

#include <string>

namespace millwright::cloud::aws {

// SSM: the value of a parameter; NotFound when there is none.
base::Task<ApiResult<std::string>> get_parameter(Api& api, std::string name);

// EKS: what nodes need to know of the cluster.
struct ClusterFacts {
  std::string name;
  std::string arn;
  std::string endpoint;
  std::string ca_bundle;     // base64 of the PEM, as kubelets take it
  std::string version;       // "1.31"
  std::string service_cidr;  // IPv4 or IPv6
  bool ipv6 = false;
  std::string dns_address;  // of the kube-dns Service; empty: the image's own guess
};
base::Task<ApiResult<ClusterFacts>> describe_cluster(Api& api, std::string name);

// The Pricing API's on-demand prices of the region, Linux, shared and bare metal.
base::Task<ApiResult<PriceTable>> list_prices(Api& api);

// IAM: an instance profile of `name` under `path` that holds exactly `role`; made, or changed, as
// needed.
struct ProfileRequest {
  std::string name;
  std::string path;
  std::string role;
  model::StringMap tags;
};
base::Task<ApiResult<>> ensure_instance_profile(Api& api, ProfileRequest request);
// The names of the profiles under a path.
base::Task<ApiResult<std::vector<std::string>>> instance_profiles(Api& api, std::string path);
// With its role taken out first. Success when it is gone already.
base::Task<ApiResult<>> delete_instance_profile(Api& api, std::string name);

}  // namespace millwright::cloud::aws
