// The URL of each of Huawei Cloud's services in a region, and the variables that override them.
#pragma once

#include "cloud/common/environment.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::cloud::huawei {

// IAM tells projects and makes temporary keys, CCE makes nodes, ECS lists flavors, VPC subnets, and
// BSS prices.
enum class Service : std::uint8_t { Iam, Cce, Ecs, Vpc, Bss };
inline constexpr std::array kServices{Service::Iam, Service::Cce, Service::Ecs, Service::Vpc,
                                      Service::Bss};
std::string_view to_string(Service service);  // "cce"

class Endpoints {
 public:
  // https://<service>.<region>.myhuaweicloud.com; BSS has no region.
  // HUAWEICLOUD_SDK_<SERVICE>_ENDPOINT overrides one of them, as HUAWEICLOUD_BSS_ENDPOINT does for
  // BSS. Invalid when an override is not an http or https URL.
  static base::Result<Endpoints> make(std::string region, const ProcessEnvironment& environment);

  // Without a slash at the end.
  const std::string& of(Service service) const { return urls_[static_cast<std::size_t>(service)]; }
  const std::string& region() const { return region_; }

 private:
  std::string region_;
  std::array<std::string, kServices.size()> urls_;
};

}  // namespace millwright::cloud::huawei
