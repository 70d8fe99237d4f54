// The EKS cluster that nodes join: what the settings say of it, and DescribeCluster for the rest.
// Loop thread only.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/aws/calls/cluster_facts.hpp"
#include "millwright/base/log.hpp"
#include "millwright/cloud/aws.hpp"

#include <functional>
#include <string>

namespace millwright::cloud::aws {

class Cluster {
 public:
  Cluster(Api& api, const AwsSettings& settings, base::Logger log);

  // EKS is asked once in five minutes, and its last answer counts while it gives none. One that it
  // never gave is done without where the settings have endpoint and CA and the API server tells its
  // version, unless --eks-control-plane says that it is EKS's which counts; and where EKS could
  // only not answer at the time, it is asked again within seconds.
  base::Task<base::Result<ClusterFacts>> facts();
  base::Task<base::Result<std::string>> arn();

 private:
  base::Task<base::Result<>> ask_eks();
  // Takes the version from the API server, where that will do. False: something is missing.
  base::Task<bool> do_without_eks();

  Api& api_;
  base::Logger log_;
  bool always_ask_;  // --eks-control-plane
  std::function<base::Task<base::Result<std::string>>()> ask_version_;
  ClusterFacts configured_;
  ClusterFacts described_;  // by EKS; only with a version where that was done without
  base::TimePoint described_until_{};
  bool is_of_eks_ = false;  // described_, all of it
  bool is_silent_ = false;  // EKS gave no answer the last time
  std::string arn_;         // empty: not known yet
};

}  // namespace millwright::cloud::aws
