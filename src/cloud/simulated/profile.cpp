#include "cloud/simulated/profile.hpp"

#include "cloud/alibaba_labels.hpp"
#include "cloud/aws_labels.hpp"
#include "cloud/huawei_labels.hpp"
#include "cloud/repair_policies.hpp"
#include "cloud/simulated/catalog.hpp"

#include <array>

namespace millwright::cloud {

namespace {
constexpr std::array kProfiles{Profile::Kwok, Profile::Aws, Profile::Alibaba, Profile::Huawei};
}  // namespace

std::string_view to_string(Profile profile) {
  return simulated::traits(profile).name;
}

std::optional<Profile> parse_profile(std::string_view text) {
  for (const auto profile : kProfiles) {
    if (to_string(profile) == text) {
      return profile;
    }
  }
  return std::nullopt;
}

SimulatedSettings default_settings(Profile profile) {
  using namespace std::chrono_literals;
  SimulatedSettings settings;
  if (profile == Profile::Kwok) {
    return settings;
  }
  settings.call = {20ms, 60ms, 250ms};
  settings.launch = {1500ms, 2500ms, 6s};
  settings.boot = {20s, 30s, 50s};
  settings.termination = {10s, 20s, 45s};
  if (profile == Profile::Huawei) {
    settings.unavailable_ttl = 5min;
  }
  return settings;
}

namespace simulated {
namespace {

Traits kwok_traits() {
  return {.name = "kwok",
          .node_classes = {model::kKwokNodeClassResource},
          .region = "",
          .zones = {"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"},
          .labels = {"karpenter.kwok.sh/instance-size", "karpenter.kwok.sh/instance-family",
                     "karpenter.kwok.sh/instance-cpu", "karpenter.kwok.sh/instance-memory",
                     "karpenter.kwok.sh/kwoknodeclass"},
          .restricted_domains = {"karpenter.kwok.sh"},
          .drifts = false,
          .unhashed_fields = {},
          .repair_policies = kKwokRepairPolicies};
}

Traits aws_traits() {
  return {.name = "aws",
          .node_classes = {model::kEc2NodeClassResource},
          .region = "us-west-2",
          .zones = {"us-west-2a", "us-west-2b", "us-west-2c"},
          .labels = {kAwsLabels.begin(), kAwsLabels.end()},
          .restricted_domains = {"karpenter.k8s.aws"},
          .drifts = true,
          .unhashed_fields = {"subnetSelectorTerms", "securityGroupSelectorTerms",
                              "amiSelectorTerms", "capacityReservationSelectorTerms"},
          .repair_policies = kAwsRepairPolicies};
}

std::vector<std::string_view> all_alibaba_labels() {
  std::vector<std::string_view> labels(kAlibabaLabels.begin(), kAlibabaLabels.end());
  labels.insert(labels.end(), kOfficialAlibabaLabels.begin(), kOfficialAlibabaLabels.end());
  return labels;
}

Traits alibaba_traits() {
  return {.name = "alibaba",
          .node_classes = {model::kEcsNodeClassResource, model::kOfficialEcsNodeClassResource},
          .region = "cn-hangzhou",
          .zones = {"cn-hangzhou-h", "cn-hangzhou-i", "cn-hangzhou-j"},
          .labels = all_alibaba_labels(),
          .restricted_domains = {"karpenter.k8s.alibabacloud", "karpenter.alibabacloud.com"},
          .drifts = true,
          .unhashed_fields = {"vSwitchSelectorTerms", "securityGroupSelectorTerms",
                              "imageSelectorTerms"},
          .repair_policies = kReadinessRepairPolicies};
}

Traits huawei_traits() {
  return {.name = "huawei",
          .node_classes = {model::kCceNodeClassResource},
          .region = "cn-north-4",
          .zones = {"cn-north-4a", "cn-north-4b", "cn-north-4c"},
          .labels = {kHuaweiLabels.begin(), kHuaweiLabels.end()},
          .restricted_domains = {kHuaweiLabelDomain},
          .drifts = true,
          .unhashed_fields = {"subnetSelectorTerms"},
          .repair_policies = kReadinessRepairPolicies};
}

std::string hex(base::Random& random, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    text += "0123456789abcdef"[random.below(16)];
  }
  return text;
}

// 10.x.y.z by serial number, the first being 10.0.0.5.
std::string address(std::uint64_t serial, char separator) {
  const auto part = [separator](std::uint64_t value) { return separator + std::to_string(value); };
  return "10" + part(serial / 62500 % 250) + part(serial / 250 % 250) + part(serial % 250 + 5);
}

}  // namespace

const Traits& traits(Profile profile) {
  static const std::array<Traits, 4> kTraits{kwok_traits(), aws_traits(), alibaba_traits(),
                                             huawei_traits()};
  return kTraits[static_cast<std::size_t>(profile)];
}

std::vector<scheduling::InstanceType> own_catalog(Profile profile) {
  switch (profile) {
    case Profile::Kwok:
      return kwok_types();
    case Profile::Aws:
      return aws_types();
    case Profile::Alibaba:
      return alibaba_types();
    case Profile::Huawei:
      return huawei_types();
  }
  return {};
}

void register_labels(Profile profile) {
  for (const auto key : traits(profile).labels) {
    model::register_well_known_label(key);
  }
  for (const auto domain : traits(profile).restricted_domains) {
    model::register_restricted_domain(domain);
  }
}

Identity new_identity(Profile profile, std::string_view claim_name, std::string_view zone,
                      std::uint64_t serial, base::Random& random) {
  const std::string region(traits(profile).region);
  switch (profile) {
    case Profile::Kwok: {
      const auto node = "kwok-" + std::string(claim_name) + "-" + random.suffix(5);
      return {"kwok://" + node, node};
    }
    case Profile::Aws:
      return {"aws:///" + std::string(zone) + "/i-" + hex(random, 17),
              "ip-" + address(serial, '-') + "." + region + ".compute.internal"};
    case Profile::Alibaba:
      return {region + ".i-bp1" + hex(random, 17), region + "." + address(serial, '.')};
    case Profile::Huawei:
      // CCE's kubelet registers with the bare uid of the CCE node.
      return {random.uuid(), address(serial, '.')};
  }
  return {};
}

}  // namespace simulated
}  // namespace millwright::cloud
