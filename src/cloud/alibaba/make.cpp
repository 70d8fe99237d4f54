#include "cloud/alibaba/alibaba_cloud.hpp"
#include "cloud/alibaba/catalog/type_labels.hpp"
#include "cloud/common/environment.hpp"

namespace millwright::cloud {

base::Result<std::unique_ptr<Provider>> make_alibaba_cloud(base::Loop& loop, net::Client& client,
                                                           AlibabaSettings settings,
                                                           AlibabaEnvironment environment,
                                                           base::Metrics& metrics,
                                                           base::Logger log) {
  if (settings.cluster_id.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "Alibaba Cloud needs the id of the ACK cluster; set CLUSTER_ID or "
                      "--cluster-id");
  }
  const auto process =
      process_environment(std::move(environment), {{"ALIBABA_CLOUD_REGION_ID", settings.region}});
  MW_TRY(region, alibaba::find_region(process, client));
  MW_TRY(endpoints, alibaba::Endpoints::make(region, process));
  PriceFile prices;
  if (!settings.price_file.empty()) {
    MW_TRY(text, read_small_file(settings.price_file));
    MW_TRY(parsed, parse_price_file(text, settings.price_file));
    prices = std::move(parsed);
  }
  alibaba::register_labels();
  return std::make_unique<alibaba::AlibabaCloud>(
      alibaba::AlibabaCloud::Parts{.loop = loop,
                                   .client = client,
                                   .settings = std::move(settings),
                                   .environment = process,
                                   .endpoints = std::move(endpoints),
                                   .metrics = metrics,
                                   .log = std::move(log)},
      std::move(prices));
}

}  // namespace millwright::cloud
