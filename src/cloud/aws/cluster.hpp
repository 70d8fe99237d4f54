// The EKS cluster that nodes join: what the settings say of it, and DescribeCluster for the rest.
// Loop thread only.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/aws/calls/cluster_facts.hpp"
#include "millwright/cloud/aws.hpp"

#include <string>

namespace millwright::cloud::aws {

class Cluster {
 public:
  Cluster(Api& api, const AwsSettings& settings);

  // EKS is asked, once in five minutes, for what the settings leave out; and with
  // --eks-control-plane always, its version then counts.
  base::Task<base::Result<ClusterFacts>> facts();
  base::Task<base::Result<std::string>> arn();

 private:
  Api& api_;
  bool always_ask_;  // --eks-control-plane
  ClusterFacts configured_;
  ClusterFacts described_;
  base::TimePoint described_until_{};
  std::string arn_;  // empty: not known yet
};

}  // namespace millwright::cloud::aws
