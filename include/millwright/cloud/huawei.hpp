// Huawei Cloud: CCE nodes for CCENodeClass (karpenter.k8s.huawei/v1alpha1), over plain HTTP calls
// that are signed here. What it does and what it needs: docs/huawei.md.
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

// What is empty is read from the environment, in the variables of Karpenter's provider for Huawei
// Cloud.
struct HuaweiSettings {
  std::string region;       // HUAWEICLOUD_SDK_REGION_ID, required
  std::string cluster_id;   // HUAWEICLOUD_SDK_CCE_CLUSTER_ID, required
  std::string project_id;   // HUAWEICLOUD_SDK_PROJECT_ID; empty: the region's only project
  std::string price_file;   // prices to use while there are none from BSS, and those of spot
  std::string price_cache;  // file that keeps BSS's last prices over a restart
  bool spot = false;        // offer flavors as spot, too, where they are sold so
  std::uint64_t seed = 0;
};

using HuaweiEnvironment = std::function<std::optional<std::string>(const std::string& name)>;

// Registers Huawei Cloud's labels: call it at start-up, before other threads run. `client` and
// `loop` must outlive the provider. Invalid when the region, the cluster, an endpoint or the price
// file is missing or wrong.
base::Result<std::unique_ptr<Provider>> make_huawei_cloud(base::Loop& loop, net::Client& client,
                                                          HuaweiSettings settings,
                                                          HuaweiEnvironment environment,
                                                          base::Metrics& metrics, base::Logger log);

}  // namespace millwright::cloud
