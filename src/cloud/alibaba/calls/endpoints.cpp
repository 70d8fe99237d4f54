#include "cloud/alibaba/calls/endpoints.hpp"

namespace millwright::cloud::alibaba {
namespace {

struct ServiceFacts {
  std::string_view name;
  std::string_view version;
  std::string_view override_variable;
};

constexpr std::array<ServiceFacts, kServices.size()> kServiceFacts{{
    {"ecs", "2014-05-26", "ECS_ENDPOINT"},
    {"vpc", "2016-04-28", "VPC_ENDPOINT"},
    {"cs", "2015-12-15", "CS_ENDPOINT"},
    {"sts", "2015-04-01", "STS_ENDPOINT"},
}};

const ServiceFacts& facts_of(Service service) {
  return kServiceFacts[static_cast<std::size_t>(service)];
}

// Region names become parts of host names: "cn-hangzhou", "cn-beijing-finance-1".
bool is_region(std::string_view text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace

std::string_view to_string(Service service) {
  return facts_of(service).name;
}

std::string_view api_version(Service service) {
  return facts_of(service).version;
}

base::Result<Endpoints> Endpoints::make(std::string region, const ProcessEnvironment& environment) {
  if (!is_region(region)) {
    return base::fail(base::ErrorKind::Invalid,
                      "the Alibaba Cloud region: expected a name such as \"cn-hangzhou\"");
  }
  Endpoints endpoints;
  for (const auto service : kServices) {
    const auto& facts = facts_of(service);
    auto& url = endpoints.urls_[static_cast<std::size_t>(service)];
    url = std::string("https://").append(facts.name).append(".").append(region);
    url.append(".aliyuncs.com");
    const std::string variable(facts.override_variable);
    auto given = environment.text(variable);
    if (given.empty()) {
      continue;
    }
    if (given.find("://") == std::string::npos) {
      given.insert(0, "https://");
    }
    while (given.ends_with('/')) {
      given.pop_back();
    }
    const bool is_url = given.starts_with("http://") || given.starts_with("https://");
    if (!is_url || given.find_first_of(" \t\r\n?#") != std::string::npos) {
      return base::fail(base::ErrorKind::Invalid,
                        variable +
                            ": expected a host or a URL that starts with https:// or "
                            "http://");
    }
    url = std::move(given);
  }
  endpoints.region_ = std::move(region);
  return endpoints;
}

}  // namespace millwright::cloud::alibaba
