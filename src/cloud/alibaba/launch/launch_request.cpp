#include "cloud/alibaba/launch/launch_request.hpp"

#include "cloud/alibaba/catalog/type_labels.hpp"
#include "cloud/common/text/digest.hpp"
#include "millwright/base/base64.hpp"

namespace millwright::cloud::alibaba {
namespace {

constexpr std::size_t kTokenDigits = 16;

// A retry after a failure that is known asks something else, and gets another token.
void set_token(Parameters& parameters, const model::NodeClaim& claim) {
  parameters.set("ClientToken",
                 claim.meta.uid + "-" + to_hex(sha256(parameters.query())).substr(0, kTokenDigits));
}

void set_if_given(Parameters& parameters, std::string name, const std::string& value) {
  if (!value.empty()) {
    parameters.set(std::move(name), value);
  }
}

bool is_essd(std::string_view category) {
  return category == "cloud_essd";
}

void set_data_disks(Parameters& parameters, std::string_view prefix, const LaunchInput& input) {
  int position = 0;
  for (const auto& disk : input.spec.data_disks) {
    const auto name = std::string(prefix) + "DataDisk." + std::to_string(++position) + ".";
    parameters.set(name + "Size", disk.gib);
    set_if_given(parameters, name + "Device", disk.device);
    set_if_given(parameters, name + "Category", disk.category);
    set_if_given(parameters, name + "PerformanceLevel", disk.performance_level);
    set_if_given(parameters, name + "SnapshotId", disk.snapshot_id);
    if (disk.encrypted.value_or(false)) {
      parameters.set(name + "Encrypted", true);
    }
  }
}

void set_access(Parameters& parameters, std::string_view prefix, const NodeClassSpec& spec) {
  const std::string at(prefix);
  set_if_given(parameters, at + "KeyPairName", spec.key_pair_name);
  set_if_given(parameters, at + "RamRoleName", spec.role);
  if (spec.password_inherit) {
    parameters.set(at + "PasswordInherit", true);
  } else {
    set_if_given(parameters, at + "Password", spec.password);
  }
}

std::vector<std::string> group_ids(const NodeClassFindings& findings) {
  std::vector<std::string> ids;
  ids.reserve(findings.security_groups.size());
  for (const auto& group : findings.security_groups) {
    ids.push_back(group.id);
  }
  return ids;
}

}  // namespace

std::string ownership_tag(std::string_view cluster_id) {
  return std::string("kubernetes.io/cluster/").append(cluster_id);
}

Tags instance_tags(const model::NodeClaim& claim, const NodeClassSpec& spec,
                   std::string_view cluster_id) {
  Tags tags;
  for (const auto& [key, value] : spec.tags) {
    tags[key] = value;
  }
  tags[ownership_tag(cluster_id)] = "owned";
  tags[std::string(kClusterTag)] = cluster_id;
  tags[std::string(model::kNodePoolLabel)] = claim.meta.label(model::kNodePoolLabel);
  tags[std::string(spec.official ? kOfficialNodeClassLabel : kNodeClassLabel)] = spec.name;
  if (spec.official) {
    // By which that provider finds its instances, should the cluster go back to it.
    tags[std::string(kOfficialManagerTag)] = kOfficialManager;
    tags[std::string(kOfficialClusterTag)] = cluster_id;
  }
  tags[std::string(kClaimTag)] = claim.meta.name;
  tags[std::string(kClaimUidTag)] = claim.meta.uid;
  return tags;
}

bool needs_single_launch(const NodeClassSpec& spec) {
  return !spec.http_endpoint.empty() || !spec.http_tokens.empty() || spec.hop_limit.has_value() ||
         spec.system_disk.encrypted.value_or(false);
}

Parameters group_request(const LaunchInput& input) {
  const auto& spec = input.spec;
  const bool spot = input.plan.capacity_type == model::kSpot;
  Parameters parameters;
  parameters.set("AutoProvisioningGroupType", "instant").set("TotalTargetCapacity", "1");
  parameters.set("SpotTargetCapacity", spot ? "1" : "0");
  parameters.set("PayAsYouGoTargetCapacity", spot ? "0" : "1");
  parameters.set("SpotAllocationStrategy", "lowest-price");
  parameters.set("PayAsYouGoAllocationStrategy", "lowest-price");
  parameters.set("ExcessCapacityTerminationPolicy", "termination");
  parameters.set("Tag.1.Key", "karpenter.k8s.alibabacloud/autoprovisiongroup");
  parameters.set("Tag.1.Value", "true");
  if (spot) {
    set_if_given(parameters, "MaxSpotPrice", spec.spot_price_limit);
  }
  int position = 0;
  for (const auto& candidate : input.plan.candidates) {
    const auto name = "LaunchTemplateConfig." + std::to_string(++position) + ".";
    parameters.set(name + "InstanceType", candidate.type);
    parameters.set(name + "VSwitchId", candidate.vswitch).set(name + "WeightedCapacity", "1");
  }
  const std::string at = "LaunchConfiguration.";
  parameters.set(at + "ImageId", input.plan.image_id);
  parameters.set(at + "UserData", base::encode_base64(input.user_data));
  parameters.set_list(at + "SecurityGroupIds", group_ids(input.findings));
  parameters.set(at + "SystemDiskSize", spec.system_disk.gib);
  set_if_given(parameters, at + "SystemDiskPerformanceLevel", spec.system_disk.performance_level);
  set_if_given(parameters, at + "ResourceGroupId", spec.resource_group_id);
  set_access(parameters, at, spec);
  set_data_disks(parameters, at, input);
  parameters.set_tags(at + "Tag", instance_tags(input.claim, spec, input.cluster_id));
  position = 0;
  for (const auto& category : spec.system_disk.categories) {
    parameters.set("SystemDiskConfig." + std::to_string(++position) + ".DiskCategory", category);
  }
  position = 0;
  for (const auto& category : spec.data_disk_categories) {
    parameters.set("DataDiskConfig." + std::to_string(++position) + ".DiskCategory", category);
  }
  set_token(parameters, input.claim);
  return parameters;
}

Parameters run_request(const LaunchInput& input, const Candidate& candidate,
                       const std::string& disk_category) {
  const auto& spec = input.spec;
  Parameters parameters;
  parameters.set("InstanceType", candidate.type).set("VSwitchId", candidate.vswitch);
  parameters.set("ImageId", input.plan.image_id).set("Amount", "1");
  parameters.set("InstanceChargeType", "PostPaid");
  parameters.set("UserData", base::encode_base64(input.user_data));
  parameters.set_list("SecurityGroupIds", group_ids(input.findings));
  parameters.set("SystemDisk.Category", disk_category);
  parameters.set("SystemDisk.Size", spec.system_disk.gib);
  if (is_essd(disk_category)) {
    set_if_given(parameters, "SystemDisk.PerformanceLevel", spec.system_disk.performance_level);
  }
  if (spec.system_disk.encrypted.value_or(false)) {
    parameters.set("SystemDisk.Encrypted", true);
    set_if_given(parameters, "SystemDisk.KMSKeyId", spec.system_disk.kms_key_id);
  }
  if (input.plan.capacity_type == model::kSpot) {
    const bool limited = !spec.spot_price_limit.empty();
    parameters.set("SpotStrategy", limited ? "SpotWithPriceLimit" : "SpotAsPriceGo");
    set_if_given(parameters, "SpotPriceLimit", spec.spot_price_limit);
  }
  set_if_given(parameters, "ResourceGroupId", spec.resource_group_id);
  set_if_given(parameters, "HttpEndpoint", spec.http_endpoint);
  set_if_given(parameters, "HttpTokens", spec.http_tokens);
  if (const auto hops = spec.hop_limit.value_or(0); hops > 0) {
    parameters.set("HttpPutResponseHopLimit", hops);
  }
  set_access(parameters, "", spec);
  set_data_disks(parameters, "", input);
  parameters.set_tags("Tag", instance_tags(input.claim, spec, input.cluster_id));
  set_token(parameters, input.claim);
  return parameters;
}

}  // namespace millwright::cloud::alibaba
