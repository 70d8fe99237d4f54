#include "cloud/aws/aws_cloud.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/common/environment.hpp"

namespace millwright::cloud {

base::Result<std::unique_ptr<Provider>> make_aws_cloud(base::Loop& loop, net::Client& client,
                                                       AwsSettings settings,
                                                       AwsEnvironment environment,
                                                       base::Metrics& metrics, base::Logger log) {
  if (settings.cluster_name.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "AWS needs the cluster's name; set CLUSTER_NAME or --cluster-name");
  }
  const auto process = process_environment(std::move(environment));
  const aws::CredentialParts parts{.loop = loop,
                                   .client = client,
                                   .environment = process,
                                   .region = {},
                                   .log = log,
                                   .seed = settings.seed};
  MW_TRY(region, aws::find_region(parts));
  MW_TRY(endpoints, aws::Endpoints::make(region, process));
  PriceFile prices;
  if (!settings.price_file.empty()) {
    MW_TRY(text, read_small_file(settings.price_file));
    MW_TRY(parsed, parse_price_file(text, settings.price_file));
    prices = std::move(parsed);
  }
  aws::register_labels();
  return std::make_unique<aws::AwsCloud>(aws::AwsCloud::Parts{.loop = loop,
                                                              .client = client,
                                                              .settings = std::move(settings),
                                                              .environment = process,
                                                              .endpoints = std::move(endpoints),
                                                              .metrics = metrics,
                                                              .log = std::move(log)},
                                         std::move(prices));
}

}  // namespace millwright::cloud
