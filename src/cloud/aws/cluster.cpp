#include "cloud/aws/cluster.hpp"

#include "cloud/aws/calls/services.hpp"

namespace millwright::cloud::aws {
namespace {

constexpr base::Duration kClusterKept = std::chrono::minutes(5);

void set_if_empty(std::string& text, const std::string& other) {
  if (text.empty()) {
    text = other;
  }
}

}  // namespace

Cluster::Cluster(Api& api, const AwsSettings& settings)
    : api_(api), always_ask_(settings.eks_control_plane) {
  configured_.name = settings.cluster_name;
  configured_.endpoint = settings.cluster_endpoint;
  configured_.ca_bundle = settings.cluster_ca_bundle;
  configured_.version = settings.kubernetes_version;
  configured_.dns_address = settings.cluster_dns_address;
}

base::Task<base::Result<ClusterFacts>> Cluster::facts() {
  if (!always_ask_ && !configured_.endpoint.empty() && !configured_.version.empty()) {
    co_return configured_;
  }
  const auto now = api_.loop().now();
  if (now >= described_until_) {
    auto described = co_await describe_cluster(api_, configured_.name);
    if (!described) {
      co_return base::with_context(
          "EKS cluster " + configured_.name + " (or set CLUSTER_ENDPOINT and CLUSTER_CA_BUNDLE)",
          std::move(described).error());
    }
    described_ = *std::move(described);
    described_until_ = now + kClusterKept;
  }
  ClusterFacts facts = configured_;
  set_if_empty(facts.endpoint, described_.endpoint);
  set_if_empty(facts.ca_bundle, described_.ca_bundle);
  if (always_ask_ || facts.version.empty()) {
    facts.version = described_.version;
  }
  facts.service_cidr = described_.service_cidr;
  facts.ipv6 = described_.ipv6;
  co_return facts;
}

base::Task<base::Result<std::string>> Cluster::arn() {
  if (arn_.empty()) {
    MW_CO_TRY(described, co_await describe_cluster(api_, configured_.name));
    arn_ = described.arn;
  }
  co_return arn_;
}

}  // namespace millwright::cloud::aws
