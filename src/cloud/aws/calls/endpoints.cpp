#include "cloud/aws/calls/endpoints.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

struct Partition {
  std::string_view name;
  std::string_view region_prefix;
  std::string_view suffix;
  // IAM is one per partition: its host without the suffix, and the region it is signed for.
  std::string_view iam_host;
  std::string_view iam_region;
};
constexpr std::array<Partition, 6> kPartitions{{
    {"aws-cn", "cn-", "amazonaws.com.cn", "iam.cn-north-1", "cn-north-1"},
    {"aws-us-gov", "us-gov-", "amazonaws.com", "iam.us-gov", "us-gov-west-1"},
    {"aws-iso", "us-iso-", "c2s.ic.gov", "iam.us-iso-east-1", "us-iso-east-1"},
    {"aws-iso-b", "us-isob-", "sc2s.sgov.gov", "iam.us-isob-east-1", "us-isob-east-1"},
    {"aws-eusc", "eusc-", "amazonaws.eu", "iam.eusc-de-east-1", "eusc-de-east-1"},
    {"aws", "", "amazonaws.com", "iam", "us-east-1"},
}};

const Partition& partition_of(std::string_view region) {
  return *std::find_if(kPartitions.begin(), kPartitions.end(), [region](const Partition& each) {
    return region.starts_with(each.region_prefix);
  });
}

// The price list is served from four regions only; Karpenter picks the near one.
std::string_view pricing_region(std::string_view region) {
  if (region.starts_with("ap-")) {
    return "ap-south-1";
  }
  if (region.starts_with("cn-")) {
    return "cn-northwest-1";
  }
  return region.starts_with("eu-") ? "eu-central-1" : "us-east-1";
}

std::string https(std::string_view host, std::string_view suffix) {
  return std::string("https://").append(host).append(".").append(suffix);
}

Endpoint usual_endpoint(Service service, const std::string& region, bool fips) {
  const auto& partition = partition_of(region);
  const std::string_view fips_mark = fips ? "-fips" : "";
  if (service == Service::Iam) {
    auto host = std::string(partition.iam_host);
    if (fips && partition.name == "aws") {
      host += fips_mark;
    }
    return {https(host, partition.suffix), std::string(partition.iam_region)};
  }
  if (service == Service::Pricing) {
    const auto near = pricing_region(region);
    return {https(std::string("api.pricing.").append(near), partition.suffix), std::string(near)};
  }
  std::string host(to_string(service));
  if (service == Service::Eks && fips) {
    host = "fips.eks";
  } else {
    host.append(fips_mark);
  }
  return {https(host.append(".").append(region), partition.suffix), region};
}

// As the AWS SDKs name a service in variables.
std::string upper_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
}

}  // namespace

std::string_view to_string(Service service) {
  constexpr std::array<std::string_view, kServices.size()> kNames{
      "ec2", "iam", "sts", "ssm", "sqs", "pricing", "eks", "arc-zonal-shift"};
  return kNames[static_cast<std::size_t>(service)];
}

base::Result<Endpoints> Endpoints::make(std::string region, const ProcessEnvironment& environment) {
  Endpoints endpoints;
  const bool fips = environment.text("AWS_USE_FIPS_ENDPOINT") == "true";
  const bool overrides = environment.text("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") != "true";
  for (const auto service : kServices) {
    auto& endpoint = endpoints.table_[static_cast<std::size_t>(service)];
    endpoint = usual_endpoint(service, region, fips);
    const auto own_name = "AWS_ENDPOINT_URL_" + upper_case(to_string(service));
    const bool has_own = !environment.text(own_name).empty();
    const std::string name = has_own ? own_name : "AWS_ENDPOINT_URL";
    auto url = environment.text(name);
    if (!overrides || url.empty()) {
      continue;
    }
    if (!url.starts_with("http://") && !url.starts_with("https://")) {
      return base::fail(base::ErrorKind::Invalid, name +
                                                      ": expected a URL that starts with "
                                                      "https:// or http://");
    }
    while (url.ends_with('/')) {
      url.pop_back();
    }
    endpoint.url = std::move(url);
  }
  endpoints.region_ = std::move(region);
  return endpoints;
}

std::string_view Endpoints::partition() const {
  return partition_of(region_).name;
}

bool Endpoints::has_price_list() const {
  return partition() == "aws" || partition() == "aws-cn";
}

}  // namespace millwright::cloud::aws
