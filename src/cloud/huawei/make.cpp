#include "cloud/huawei/huawei_cloud.hpp"

namespace millwright::cloud {

base::Result<std::unique_ptr<Provider>> make_huawei_cloud(base::Loop& loop, net::Client& client,
                                                          HuaweiSettings settings,
                                                          HuaweiEnvironment environment,
                                                          base::Metrics& metrics,
                                                          base::Logger log) {
  const auto process = process_environment(std::move(environment),
                                           {{"HUAWEICLOUD_SDK_REGION_ID", settings.region},
                                            {"HUAWEICLOUD_SDK_CCE_CLUSTER_ID", settings.cluster_id},
                                            {"HUAWEICLOUD_SDK_PROJECT_ID", settings.project_id}});
  const auto region = process.text("HUAWEICLOUD_SDK_REGION_ID");
  if (region.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "the region of Huawei Cloud is not known; set HUAWEICLOUD_SDK_REGION_ID or "
                      "--huawei-region");
  }
  auto cluster = process.text("HUAWEICLOUD_SDK_CCE_CLUSTER_ID");
  if (cluster.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "the CCE cluster is not known; set HUAWEICLOUD_SDK_CCE_CLUSTER_ID or "
                      "--huawei-cluster-id to its id");
  }
  MW_TRY(endpoints, huawei::Endpoints::make(region, process));
  PriceFile prices;
  if (!settings.price_file.empty()) {
    MW_TRY(text, read_small_file(settings.price_file));
    MW_TRY(parsed, parse_price_file(text, settings.price_file));
    prices = std::move(parsed);
  }
  huawei::register_labels();
  return std::make_unique<huawei::HuaweiCloud>(
      huawei::HuaweiCloud::Parts{.loop = loop,
                                 .client = client,
                                 .settings = std::move(settings),
                                 .environment = process,
                                 .endpoints = std::move(endpoints),
                                 .cluster = std::move(cluster),
                                 .metrics = metrics,
                                 .log = std::move(log)},
      std::move(prices));
}

}  // namespace millwright::cloud
