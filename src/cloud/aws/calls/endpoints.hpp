// The URL of each service in a region, by partition and FIPS, and with the overrides that AWS's own
// tools read (AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_EC2, ...).
#pragma once

#include "cloud/common/environment.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

enum class Service : std::uint8_t { Ec2, Iam, Sts, Ssm, Sqs, Pricing, Eks, ArcZonalShift };
inline constexpr std::array kServices{Service::Ec2, Service::Iam,          Service::Sts,
                                      Service::Ssm, Service::Sqs,          Service::Pricing,
                                      Service::Eks, Service::ArcZonalShift};
// "ec2": also its name in signatures.
std::string_view to_string(Service service);

struct Endpoint {
  std::string url;  // "https://ec2.us-west-2.amazonaws.com", no slash at the end
  std::string signing_region;
};

class Endpoints {
 public:
  // Invalid when an override is not an http or https URL.
  static base::Result<Endpoints> make(std::string region, const ProcessEnvironment& environment);

  const Endpoint& of(Service service) const { return table_[static_cast<std::size_t>(service)]; }
  const std::string& region() const { return region_; }
  // "aws", "aws-cn", "aws-us-gov", ...: the second part of every ARN.
  std::string_view partition() const;
  // False where AWS has no price list to ask (GovCloud and the isolated partitions).
  bool has_price_list() const;

 private:
  std::string region_;
  std::array<Endpoint, kServices.size()> table_;
};

}  // namespace millwright::cloud::aws
