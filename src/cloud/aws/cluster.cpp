#include "cloud/aws/cluster.hpp"

#include "cloud/aws/calls/services.hpp"

#include <utility>

namespace millwright::cloud::aws {
namespace {

constexpr base::Duration kClusterKept = std::chrono::minutes(5);
// Until EKS is asked again after it could not answer, and never has.
constexpr base::Duration kAskAgain = std::chrono::seconds(5);

// It says nothing of whether EKS knows the cluster.
bool is_passing(const base::Error& error) {
  using base::ErrorKind;
  return error.kind == ErrorKind::Throttled || error.kind == ErrorKind::Unavailable ||
         error.kind == ErrorKind::Timeout;
}

void set_if_empty(std::string& text, const std::string& other) {
  if (text.empty()) {
    text = other;
  }
}

}  // namespace

Cluster::Cluster(Api& api, const AwsSettings& settings, base::Logger log)
    : api_(api),
      log_(std::move(log)),
      always_ask_(settings.eks_control_plane),
      ask_version_(settings.ask_version) {
  configured_.name = settings.cluster_name;
  configured_.endpoint = settings.cluster_endpoint;
  configured_.ca_bundle = settings.cluster_ca_bundle;
  configured_.version = settings.kubernetes_version;
  configured_.service_cidr = settings.service_cidr;
  configured_.dns_address = settings.cluster_dns_address;
}

base::Task<base::Result<ClusterFacts>> Cluster::facts() {
  if (!always_ask_ && !configured_.endpoint.empty() && !configured_.version.empty()) {
    co_return configured_;
  }
  if (api_.loop().now() >= described_until_) {
    MW_CO_CHECK(co_await ask_eks());
  }
  ClusterFacts facts = configured_;
  set_if_empty(facts.endpoint, described_.endpoint);
  set_if_empty(facts.ca_bundle, described_.ca_bundle);
  if (always_ask_ || facts.version.empty()) {
    facts.version = described_.version;
  }
  if (!described_.service_cidr.empty()) {
    facts.service_cidr = described_.service_cidr;
  }
  facts.ipv6 = described_.ipv6;
  co_return facts;
}

base::Task<base::Result<>> Cluster::ask_eks() {
  const bool known = !described_.version.empty();
  if (known) {
    // A call may take long. Launches meanwhile, and those after it failed, use what is known.
    described_until_ = api_.loop().now() + kClusterKept;
  }
  auto described = co_await describe_cluster(api_, configured_.name);
  if (described) {
    described_ = *std::move(described);
    is_of_eks_ = true;
    described_until_ = api_.loop().now() + kClusterKept;
    is_silent_ = false;
    co_return base::Result<>{};
  }
  const bool replaced = co_await do_without_eks();
  if (!known && !replaced) {
    co_return base::with_context(
        "EKS cluster " + configured_.name + " (or set CLUSTER_ENDPOINT and CLUSTER_CA_BUNDLE)",
        std::move(described).error());
  }
  const bool ask_soon = !is_of_eks_ && is_passing(described.error());
  described_until_ = api_.loop().now() + (ask_soon ? kAskAgain : kClusterKept);
  if (!std::exchange(is_silent_, true)) {
    log_.warn("EKS does not tell of the cluster; going on with what is known",
              {{"cluster", configured_.name}, {"error", described.error().message}});
  }
  co_return base::Result<>{};
}

base::Task<bool> Cluster::do_without_eks() {
  const bool complete = !configured_.endpoint.empty() && !configured_.ca_bundle.empty();
  if (always_ask_ || !complete || !ask_version_) {
    co_return false;
  }
  auto version = co_await ask_version_();
  if (!version) {
    co_return false;
  }
  described_.version = *std::move(version);
  co_return true;
}

base::Task<base::Result<std::string>> Cluster::arn() {
  if (arn_.empty()) {
    MW_CO_TRY(described, co_await describe_cluster(api_, configured_.name));
    arn_ = described.arn;
  }
  co_return arn_;
}

}  // namespace millwright::cloud::aws
