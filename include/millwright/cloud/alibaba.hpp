// Alibaba Cloud: ECS instances for ECSNodeClass (karpenter.k8s.alibabacloud/v1alpha1) in an ACK
// cluster, over plain HTTP calls that are signed here.
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

// Settings of CloudPilot's provider for Alibaba Cloud, by the same names.
struct AlibabaSettings {
  std::string region;  // ALIBABA_CLOUD_REGION_ID; empty: what docs/alibaba.md says, in its order
  std::string cluster_id;                     // CLUSTER_ID, required
  bool custom_cluster = false;                // CLUSTER_TYPE=Custom: user data joins, not ACK
  double vm_memory_overhead_percent = 0.065;  // VM_MEMORY_OVERHEAD_PERCENT
  bool interruption = true;                   // INTERRUPTION: look for recycled spot instances
  std::string price_file;                     // prices to use while there are none from ECS
  std::string price_cache;                    // file that keeps ECS's last prices over a restart
  // Another one in every process: signatures' nonces come of it, and Alibaba Cloud refuses those
  // that it has seen.
  std::uint64_t seed = 0;
};

using AlibabaEnvironment = std::function<std::optional<std::string>(const std::string& name)>;

// Registers Alibaba Cloud's labels: call it at start-up, before other threads run. `client` and
// `loop` must outlive the provider. Invalid when the region, an endpoint, a setting or the price
// file is wrong. May ask the instance metadata service for the region, which blocks for some
// seconds at most.
base::Result<std::unique_ptr<Provider>> make_alibaba_cloud(base::Loop& loop, net::Client& client,
                                                           AlibabaSettings settings,
                                                           AlibabaEnvironment environment,
                                                           base::Metrics& metrics,
                                                           base::Logger log);

}  // namespace millwright::cloud
