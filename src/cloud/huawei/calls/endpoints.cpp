#include "cloud/huawei/calls/endpoints.hpp"

namespace millwright::cloud::huawei {
namespace {

constexpr std::string_view kDomain = "myhuaweicloud.com";

std::string usual_url(Service service, std::string_view region) {
  std::string url = "https://";
  url.append(to_string(service)).append(".");
  if (service != Service::Bss) {
    url.append(region).append(".");
  }
  return url.append(kDomain);
}

std::string_view own_variable(Service service) {
  constexpr std::array<std::string_view, kServices.size()> kVariables{
      "HUAWEICLOUD_SDK_IAM_ENDPOINT", "HUAWEICLOUD_SDK_CCE_ENDPOINT",
      "HUAWEICLOUD_SDK_ECS_ENDPOINT", "HUAWEICLOUD_SDK_VPC_ENDPOINT",
      "HUAWEICLOUD_SDK_BSS_ENDPOINT"};
  return kVariables[static_cast<std::size_t>(service)];
}

}  // namespace

std::string_view to_string(Service service) {
  constexpr std::array<std::string_view, kServices.size()> kNames{"iam", "cce", "ecs", "vpc",
                                                                  "bss"};
  return kNames[static_cast<std::size_t>(service)];
}

base::Result<Endpoints> Endpoints::make(std::string region, const ProcessEnvironment& environment) {
  Endpoints endpoints;
  for (const auto service : kServices) {
    auto& endpoint = endpoints.urls_[static_cast<std::size_t>(service)];
    std::string variable(own_variable(service));
    auto url = environment.text(variable);
    if (url.empty() && service == Service::Bss) {
      variable = "HUAWEICLOUD_BSS_ENDPOINT";  // Karpenter's provider for Huawei Cloud reads this
      url = environment.text(variable);
    }
    if (url.empty()) {
      endpoint = usual_url(service, region);
      continue;
    }
    if (!url.starts_with("http://") && !url.starts_with("https://")) {
      return base::fail(base::ErrorKind::Invalid,
                        variable + ": expected a URL that starts with https:// or http://");
    }
    while (url.ends_with('/')) {
      url.pop_back();
    }
    endpoint = std::move(url);
  }
  endpoints.region_ = std::move(region);
  return endpoints;
}

}  // namespace millwright::cloud::huawei
