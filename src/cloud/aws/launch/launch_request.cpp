#include "cloud/aws/launch/launch_request.hpp"

#include "cloud/aws/launch/ami_family.hpp"
#include "cloud/common/text/digest.hpp"
#include "millwright/base/base64.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

constexpr std::string_view kData = "LaunchTemplateData.";
constexpr std::size_t kHashLength = 20;

std::string data(std::string_view name) {
  return std::string(kData).append(name);
}

void add_tags(Form& form, const std::string& prefix, std::string_view resource,
              const model::StringMap& tags) {
  form.add(prefix + ".ResourceType", resource);
  int position = 0;
  for (const auto& [key, value] : tags) {
    const auto tag = prefix + ".Tag." + std::to_string(++position);
    form.add(tag + ".Key", key).add(tag + ".Value", value);
  }
}

// EC2 counts in GiB; parts of one are rounded up.
std::optional<std::int64_t> gibibytes(const std::string& size) {
  const auto parsed = model::Quantity::parse(size);
  if (!parsed || parsed->milli() <= 0) {
    return std::nullopt;
  }
  constexpr std::int64_t kGibibyte = std::int64_t{1} << 30U;
  return (parsed->units() + kGibibyte - 1) / kGibibyte;
}

void add_devices(Form& form, const std::vector<BlockDevice>& devices) {
  int position = 0;
  for (const auto& device : devices) {
    const auto prefix = data("BlockDeviceMapping.") + std::to_string(++position);
    const auto ebs = prefix + ".Ebs.";
    form.add(prefix + ".DeviceName", device.device_name);
    const auto text = [&](std::string_view name, const std::string& value) {
      if (!value.empty()) {
        form.add(ebs + std::string(name), value);
      }
    };
    const auto value = [&](std::string_view name, const auto& optional) {
      if (optional) {
        form.add(ebs + std::string(name), *optional);
      }
    };
    value("VolumeSize", gibibytes(device.volume_size));
    text("VolumeType", device.volume_type);
    value("Encrypted", device.encrypted);
    value("DeleteOnTermination", device.delete_on_termination);
    value("Iops", device.iops);
    value("Throughput", device.throughput);
    value("VolumeInitializationRate", device.initialization_rate);
    text("KmsKeyId", device.kms_key_id);
    text("SnapshotId", device.snapshot_id);
  }
}

struct Interface {
  std::int64_t card = 0;
  std::int64_t device = 0;
  std::string type;  // empty: the default
};

// Empty when the default serves: EC2 makes one interface, with the instance's security groups.
std::vector<Interface> interfaces_of(const NodeClassSpec& spec, const LaunchGroup& group) {
  std::vector<Interface> result;
  for (const auto& each : spec.interfaces) {
    result.push_back({each.card, each.device, each.type});
  }
  if (!result.empty()) {
    return result;
  }
  for (std::int64_t card = 0; card < group.efa_interfaces; ++card) {
    result.push_back({card, card == 0 ? 0 : 1, "efa"});
  }
  if (result.empty() && (spec.public_address || spec.prefix_count || spec.tracking.is_given())) {
    result.push_back({});
  }
  return result;
}

void add_tracking(Form& form, const std::string& interface, const ConnectionTracking& tracking) {
  const auto add = [&](std::string_view name, const std::optional<std::int64_t>& seconds) {
    if (seconds) {
      form.add(interface + ".ConnectionTrackingSpecification." + std::string(name), *seconds);
    }
  };
  add("TcpEstablishedTimeout", tracking.tcp_established);
  add("UdpStreamTimeout", tracking.udp_stream);
  add("UdpTimeout", tracking.udp);
}

void add_network(Form& form, const NodeClassSpec& spec, const LaunchGroup& group,
                 const std::vector<std::string>& groups) {
  const auto interfaces = interfaces_of(spec, group);
  if (interfaces.empty()) {
    form.add_list(data("SecurityGroupId"), groups);
    return;
  }
  int position = 0;
  for (const auto& each : interfaces) {
    const bool first = position == 0;
    const auto prefix = data("NetworkInterface.") + std::to_string(++position);
    form.add(prefix + ".DeviceIndex", each.device);
    form.add_list(prefix + ".SecurityGroupId", groups);
    // EC2 refuses a public address as soon as there is more than one interface.
    if (first && spec.public_address && interfaces.size() == 1) {
      form.add(prefix + ".AssociatePublicIpAddress", *spec.public_address);
    }
    if (first && spec.prefix_count) {
      form.add(prefix + ".Ipv4PrefixCount", *spec.prefix_count);
    }
    if (!each.type.empty()) {
      form.add(prefix + ".InterfaceType", each.type);
      form.add(prefix + ".NetworkCardIndex", each.card);
    }
    // An interface for EFA alone has no address, so no connections either.
    if (each.type != "efa-only") {
      add_tracking(form, prefix, spec.tracking);
    }
  }
}

// Keeps launches that are meant for no reservation out of open ones.
void add_reservation(Form& form, const LaunchPlan& plan, const LaunchGroup& group) {
  const auto specification = data("CapacityReservationSpecification.");
  if (group.reservation_id.empty()) {
    if (plan.spares_reservations) {
      form.add(specification + "CapacityReservationPreference", "none");
    }
    return;
  }
  form.add(specification + "CapacityReservationPreference", "capacity-reservations-only");
  form.add(specification + "CapacityReservationTarget.CapacityReservationId", group.reservation_id);
  if (plan.reservation_kind == "capacity-block") {
    form.add(data("InstanceMarketOptions.MarketType"), "capacity-block");
  } else if (plan.interruptible) {
    form.add(data("InstanceMarketOptions.MarketType"), "interruptible-capacity-reservation");
  }
}

void add_placement(Form& form, const LaunchPlan& plan) {
  if (!plan.placement_group.empty()) {
    form.add(data("Placement.GroupId"), plan.placement_group);
  }
  if (plan.partition > 0) {
    form.add(data("Placement.PartitionNumber"), plan.partition);
  }
  if (plan.dedicated) {
    form.add(data("Placement.Tenancy"), "dedicated");
  }
}

// What CreateFleet calls the plan's capacity type.
std::string_view target_of(const LaunchPlan& plan) {
  if (plan.capacity_type != model::kReserved) {
    return plan.capacity_type;
  }
  return plan.reservation_kind == "capacity-block" ? "capacity-block" : model::kOnDemand;
}

}  // namespace

model::StringMap owned_tags(const NodeClassSpec& spec, const std::string& cluster,
                            const std::string& node_pool) {
  auto tags = spec.tags;
  tags["kubernetes.io/cluster/" + cluster] = "owned";
  tags[std::string(model::kNodePoolLabel)] = node_pool;
  tags[std::string(kClusterTag)] = cluster;
  tags["karpenter.k8s.aws/ec2nodeclass"] = spec.name;
  return tags;
}

base::Result<TemplateRequest> launch_template_for(const NodeClassSpec& spec,
                                                  const NodeClassFindings& findings,
                                                  const LaunchPlan& plan, const LaunchGroup& group,
                                                  const Boot& boot, const model::StringMap& tags) {
  MW_TRY(user_data, make_user_data(boot));
  std::vector<std::string> groups;
  for (const auto& each : findings.security_groups) {
    groups.push_back(each.id);
  }
  Form content("CreateLaunchTemplate", "2016-11-15");
  const auto fill = [&](Form& form) {
    add_tags(form, "TagSpecification.1", "launch-template", tags);
    add_devices(form,
                spec.block_devices.empty() ? default_devices(spec.family) : spec.block_devices);
    form.add(data("IamInstanceProfile.Name"), findings.instance_profile);
    form.add(data("Monitoring.Enabled"), spec.detailed_monitoring);
    if (!user_data.empty()) {
      form.add(data("UserData"), base::encode_base64(user_data));
    }
    form.add(data("ImageId"), group.image_id);
    form.add(data("MetadataOptions.HttpEndpoint"), spec.metadata.http_endpoint);
    form.add(data("MetadataOptions.HttpProtocolIpv6"), spec.metadata.http_protocol_ipv6);
    form.add(data("MetadataOptions.HttpPutResponseHopLimit"), spec.metadata.hop_limit);
    form.add(data("MetadataOptions.HttpTokens"), spec.metadata.http_tokens);
    form.add(data("MetadataOptions.InstanceMetadataTags"), "disabled");
    add_network(form, spec, group, groups);
    if (!spec.nested_virtualization.empty()) {
      form.add(data("CpuOptions.NestedVirtualization"), spec.nested_virtualization);
    }
    add_placement(form, plan);
    add_reservation(form, plan, group);
    add_tags(form, data("TagSpecification.1"), "network-interface", tags);
    if (plan.capacity_type == model::kSpot) {
      add_tags(form, data("TagSpecification.2"), "spot-instances-request", tags);
    }
  };
  fill(content);
  TemplateRequest request;
  request.name = "karpenter.k8s.aws/" + to_hex(sha256(content.body())).substr(0, kHashLength);
  request.form.add("LaunchTemplateName", request.name);
  fill(request.form);
  return request;
}

Form fleet_form(const FleetRequest& request) {
  Form form("CreateFleet", "2016-11-15");
  form.add("Type", "instant");
  if (!request.context.empty()) {
    form.add("Context", request.context);
  }
  int position = 0;
  for (const auto& group : request.plan.groups) {
    const auto prefix = "LaunchTemplateConfigs." + std::to_string(position + 1);
    const auto name = prefix + ".LaunchTemplateSpecification.";
    form.add(name + "LaunchTemplateName", request.templates[static_cast<std::size_t>(position)]);
    form.add(name + "Version", "$Latest");
    int number = 0;
    for (const auto& option : group.options) {
      const auto override_prefix = prefix + ".Overrides." + std::to_string(++number);
      form.add(override_prefix + ".InstanceType", option.type);
      form.add(override_prefix + ".SubnetId", option.subnet);
      form.add(override_prefix + ".AvailabilityZone", option.zone);
      form.add(override_prefix + ".ImageId", group.image_id);
      form.add(override_prefix + ".Priority", decimal_text(option.price));
    }
    ++position;
  }
  form.add("TargetCapacitySpecification.TotalTargetCapacity", request.capacity);
  form.add("TargetCapacitySpecification.DefaultTargetCapacityType", target_of(request.plan));
  if (request.plan.capacity_type == model::kSpot) {
    form.add("SpotOptions.AllocationStrategy", "price-capacity-optimized");
  } else if (target_of(request.plan) == model::kOnDemand) {
    form.add("OnDemandOptions.AllocationStrategy", "lowest-price");
  }
  position = 0;
  for (const std::string_view resource : {"instance", "volume", "fleet"}) {
    add_tags(form, "TagSpecification." + std::to_string(++position), resource, request.tags);
  }
  form.add("ClientToken", request.client_token);
  return form;
}

FleetAnswer read_fleet(const XmlNode& root) {
  FleetAnswer answer;
  for (const auto& item : root.items("fleetInstanceSet")) {
    const auto& chosen = item.child("launchTemplateAndOverrides").child("overrides");
    for (const auto& id : item.texts("instanceIds")) {
      answer.instances.push_back({id, item.text_of("instanceType"),
                                  chosen.text_of("availabilityZone"), chosen.text_of("subnetId")});
    }
  }
  std::sort(answer.instances.begin(), answer.instances.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  for (const auto& item : root.items("errorSet")) {
    const auto& tried = item.child("launchTemplateAndOverrides").child("overrides");
    answer.errors.push_back({item.text_of("errorCode"), item.text_of("errorMessage"),
                             tried.text_of("instanceType"), tried.text_of("availabilityZone")});
  }
  return answer;
}

}  // namespace millwright::cloud::aws
