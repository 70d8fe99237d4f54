// Instances as the provider's callers see them: of a launch, and as EC2 describes them.
#include "cloud/aws/aws_cloud.hpp"
#include "cloud/aws/type_labels.hpp"

namespace millwright::cloud::aws {
namespace {

// DescribeInstances lags behind CreateFleet by seconds.
constexpr base::Duration kPartitionAwaited = std::chrono::seconds(10);
constexpr base::Duration kPartitionAskedAgain = std::chrono::seconds(1);

std::string_view tag(const Ec2Instance& instance, std::string_view key) {
  const auto found = instance.tags.find(key);
  return found == instance.tags.end() ? std::string_view() : std::string_view(found->second);
}

// A type's labels name the reservations that it may be launched into.
void label_reservation(model::StringMap& labels, const std::string& id,
                       const std::vector<ResolvedReservation>& known) {
  for (const auto key :
       {kReservationIdLabel, kReservationTypeLabel, kReservationInterruptibleLabel}) {
    labels.erase(std::string(key));
  }
  if (id.empty()) {
    return;
  }
  labels[std::string(kReservationIdLabel)] = id;
  for (const auto& each : known) {
    if (each.id == id) {
      labels[std::string(kReservationTypeLabel)] = each.kind;
      labels[std::string(kReservationInterruptibleLabel)] = each.interruptible ? "true" : "false";
    }
  }
}

void label_placement(model::StringMap& labels, const std::string& group, int partition) {
  labels.erase(std::string(kPartitionLabel));
  if (!group.empty()) {
    labels[std::string(kPlacementGroupLabel)] = group;
  }
  if (partition > 0) {
    labels[std::string(kPartitionLabel)] = std::to_string(partition);
  }
}

}  // namespace

// Karpenter holds a node's registration up until then: what spreads by partition is to see it from
// the start.
base::Task<base::Result<Launched>> AwsCloud::tell_partition(ClaimPtr claim, Launched launched) {
  const auto until = parts_.loop.now() + kPartitionAwaited;
  while (launched.awaits_partition) {
    auto described = co_await describes_.ask(launched.instance_id);
    if (described) {
      launched.partition = described->partition;
      launched.awaits_partition = false;
      launcher_.ownership().deal(launched, *claim, parts_.loop.now());
      break;
    }
    if (described.error().kind != base::ErrorKind::NotFound) {
      co_return tl::unexpected(std::move(described).error());
    }
    if (parts_.loop.now() >= until) {
      co_return base::fail(base::ErrorKind::Unavailable,
                           "NodeClaim " + claim->meta.name + ": instance " + launched.instance_id +
                               " is launched, but EC2 does not show its partition yet; asking "
                               "again");
    }
    co_await base::sleep(parts_.loop, kPartitionAskedAgain);
  }
  co_return launched;
}

Instance AwsCloud::describe_launch(const Launched& launched, const model::NodeClass& node_class) {
  Instance instance;
  instance.provider_id = provider_id_of(launched.zone, launched.instance_id);
  instance.image_id = launched.image_id;
  instance.launched_at = parts_.loop.now();
  const auto types = catalog_.types(node_class, parts_.loop.now());
  if (const auto* type = scheduling::find_type(types, launched.type)) {
    for (const auto& requirement : type->requirements) {
      if (!requirement.is_complement() && requirement.values().size() == 1) {
        instance.labels[requirement.key()] = requirement.values().front();
      }
    }
    const auto not_zero = [](const auto& item) { return !item.second.is_zero(); };
    for (const auto& item : type->capacity) {
      if (not_zero(item)) {
        instance.capacity.insert(item);
      }
    }
    for (const auto& item : type->allocatable()) {
      if (not_zero(item)) {
        instance.allocatable.insert(item);
      }
    }
  }
  instance.labels[std::string(model::kInstanceTypeLabel)] = launched.type;
  instance.labels[std::string(model::kZoneLabel)] = launched.zone;
  instance.labels[std::string(model::kCapacityTypeLabel)] = launched.capacity_type;
  instance.labels.erase(std::string(kZoneIdLabel));
  label_reservation(instance.labels, launched.reservation_id, read_status(node_class).reservations);
  label_placement(instance.labels, launched.placement_group, launched.partition);
  for (const auto& subnet : read_status(node_class).subnets) {
    if (subnet.zone == launched.zone && !subnet.zone_id.empty()) {
      instance.labels[std::string(kZoneIdLabel)] = subnet.zone_id;
    }
  }
  instance.annotations[std::string(kHashAnnotation)] = static_hash(node_class);
  instance.annotations[std::string(kHashVersionAnnotation)] = kHashVersion;
  return instance;
}

Instance AwsCloud::to_instance(const Ec2Instance& found) const {
  Instance instance;
  instance.provider_id = provider_id_of(found.zone, found.id);
  instance.image_id = found.image_id;
  // Before its tags say so: those of a merged launch come with the Node.
  instance.node_claim = launcher_.ownership().claim_of(found.id);
  if (instance.node_claim.empty()) {
    instance.node_claim = tag(found, kClaimTag);
  }
  instance.node_pool = tag(found, model::kNodePoolLabel);
  instance.labels[std::string(model::kInstanceTypeLabel)] = found.type;
  instance.labels[std::string(model::kZoneLabel)] = found.zone;
  instance.labels[std::string(model::kRegionLabel)] = parts_.endpoints.region();
  instance.labels[std::string(model::kCapacityTypeLabel)] = found.capacity_type();
  label_reservation(instance.labels, found.reservation_id, {});
  label_placement(instance.labels, found.placement_group, found.partition);
  if (const auto* facts = catalog_.find(found.type)) {
    instance.labels[std::string(model::kArchLabel)] = facts->arch;
  }
  instance.launched_at = found.launched_at;
  instance.terminating = found.is_terminating();
  instance.node_name = found.private_dns_name;
  return instance;
}

}  // namespace millwright::cloud::aws
