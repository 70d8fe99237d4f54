// AWS: EC2 instances for EC2NodeClass (karpenter.k8s.aws/v1), over plain HTTP calls that are signed
// here. What it does and what it needs: docs/aws.md.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/result.hpp"
#include "millwright/cloud/provider.hpp"
#include "millwright/net/client.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace millwright::cloud {

// Karpenter's settings of the same names.
struct AwsSettings {
  std::string cluster_name;         // CLUSTER_NAME, required
  std::string cluster_endpoint;     // CLUSTER_ENDPOINT; empty: from EKS DescribeCluster
  std::string cluster_ca_bundle;    // CLUSTER_CA_BUNDLE, base64 of the PEM; likewise
  std::string kubernetes_version;   // "1.31"; empty: from EKS, or the API server
  std::string service_cidr;         // of Services, where EKS is not asked; empty: from EKS
  std::string cluster_dns_address;  // of the kube-dns Service; empty: images find it themselves
  bool isolated_vpc = false;        // ISOLATED_VPC: the Pricing API cannot be reached
  bool eks_control_plane = false;   // EKS_CONTROL_PLANE: version and service addresses are EKS's
  // AMI_REFRESH_INTERVAL, SUBNET_REFRESH_INTERVAL: how long what a class selects is used before EC2
  // is asked again.
  base::Duration ami_refresh_interval = std::chrono::minutes(1);
  base::Duration subnet_refresh_interval = std::chrono::minutes(1);
  double vm_memory_overhead_percent = 0.075;  // VM_MEMORY_OVERHEAD_PERCENT
  std::int64_t reserved_enis = 0;             // RESERVED_ENIS
  bool reserved_capacity = true;              // the feature gate ReservedCapacity
  bool disable_dry_run = false;               // DISABLE_DRY_RUN: make no dry runs for classes
  bool enable_zonal_shift = false;            // ENABLE_ZONAL_SHIFT: ask ARC which zones to avoid
  std::string interruption_queue;             // INTERRUPTION_QUEUE: an SQS queue's name
  std::string price_file;                     // prices to use while there are none from AWS
  std::string price_cache;                    // file that keeps AWS's last prices over a restart
  std::uint64_t seed = 0;
  // Not a setting. What this process trusts the API server by, base64 of the PEM; empty: what the
  // machine trusts. Counts in a class's drift hash if cluster_ca_bundle is empty, as in Karpenter.
  std::string api_server_ca;
  // Not a setting. Asks the API server for its version ("1.31"), for clusters that EKS does not
  // tell of.
  std::function<base::Task<base::Result<std::string>>()> ask_version;
};

using AwsEnvironment = std::function<std::optional<std::string>(const std::string& name)>;

// Registers AWS's labels: call it at start-up, before other threads run. `client` and `loop` must
// outlive the provider. Invalid when the region, an endpoint, a setting or the price file is wrong.
// May ask the instance metadata service for the region, which blocks for some seconds at most.
base::Result<std::unique_ptr<Provider>> make_aws_cloud(base::Loop& loop, net::Client& client,
                                                       AwsSettings settings,
                                                       AwsEnvironment environment,
                                                       base::Metrics& metrics, base::Logger log);

}  // namespace millwright::cloud
