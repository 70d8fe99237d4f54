// The URL of each service in a region, with the overrides that the official provider for Alibaba
// Cloud reads (ECS_ENDPOINT, VPC_ENDPOINT, CS_ENDPOINT, STS_ENDPOINT).
#pragma once

#include "cloud/common/environment.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::cloud::alibaba {

enum class Service : std::uint8_t { Ecs, Vpc, Cs, Sts };
inline constexpr std::array kServices{Service::Ecs, Service::Vpc, Service::Cs, Service::Sts};
std::string_view to_string(Service service);    // "ecs"
std::string_view api_version(Service service);  // "2014-05-26"

class Endpoints {
 public:
  // An override is a URL, or a host that is asked over https. Invalid when it is neither.
  static base::Result<Endpoints> make(std::string region, const ProcessEnvironment& environment);

  // "https://ecs.cn-hangzhou.aliyuncs.com", no slash at the end.
  const std::string& of(Service service) const { return urls_[static_cast<std::size_t>(service)]; }
  const std::string& region() const { return region_; }

 private:
  std::string region_;
  std::array<std::string, kServices.size()> urls_;
};

}  // namespace millwright::cloud::alibaba
