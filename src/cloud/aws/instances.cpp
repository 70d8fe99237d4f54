#include "cloud/aws/instances.hpp"

#include "cloud/aws/catalog/reservation_counts.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "cloud/aws/node_class/placement_groups.hpp"

namespace millwright::cloud::aws {
namespace {

// The type's labels that have one value.
void label_type(model::StringMap& labels, const scheduling::InstanceType& type) {
  for (const auto& requirement : type.requirements) {
    if (!requirement.is_complement() && requirement.values().size() == 1) {
      labels[requirement.key()] = requirement.values().front();
    }
  }
}

model::ResourceList without_zeros(model::ResourceList resources) {
  std::erase_if(resources, [](const auto& item) { return item.second.is_zero(); });
  return resources;
}

// Replaces what the type's labels say: they name all reservations that it may be launched into.
void label_reservation(model::StringMap& labels, const std::string& id,
                       const std::vector<CapacityReservation>& known) {
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

Instance launched_instance(const Launched& launched, const model::NodeClass& node_class,
                           const scheduling::InstanceType* type, const model::HashStamp& stamp) {
  Instance instance;
  instance.provider_id = provider_id_of(launched.zone, launched.instance_id);
  instance.image_id = launched.image_id;
  if (type != nullptr) {
    label_type(instance.labels, *type);
    instance.capacity = without_zeros(type->capacity);
    instance.allocatable = without_zeros(type->allocatable());
  }
  instance.labels[std::string(model::kInstanceTypeLabel)] = launched.type;
  instance.labels[std::string(model::kZoneLabel)] = launched.zone;
  instance.labels[std::string(model::kCapacityTypeLabel)] = launched.capacity_type;
  instance.labels.erase(std::string(kZoneIdLabel));
  const auto status = read_status(node_class);
  label_reservation(instance.labels, launched.reservation_id, status.reservations);
  label_placement(instance.labels, launched.placement_group, launched.partition);
  for (const auto& subnet : status.subnets) {
    if (subnet.zone == launched.zone && !subnet.zone_id.empty()) {
      instance.labels[std::string(kZoneIdLabel)] = subnet.zone_id;
    }
  }
  instance.annotations[stamp.key] = stamp.hash;
  instance.annotations[stamp.version_key] = stamp.version;
  return instance;
}

Instance described_instance(const Ec2Instance& found) {
  Instance instance;
  instance.provider_id = provider_id_of(found.zone, found.id);
  instance.image_id = found.image_id;
  instance.node_claim = found.tag(kClaimTag);
  instance.node_pool = found.tag(model::kNodePoolLabel);
  instance.labels[std::string(model::kInstanceTypeLabel)] = found.type;
  instance.labels[std::string(model::kZoneLabel)] = found.zone;
  instance.labels[std::string(model::kCapacityTypeLabel)] = found.capacity_type();
  label_reservation(instance.labels, found.reservation_id, {});
  label_placement(instance.labels, found.placement_group, found.partition);
  instance.launched_at = found.launched_at;
  instance.terminating = found.is_terminating();
  instance.node_name = found.private_dns_name;
  return instance;
}

}  // namespace millwright::cloud::aws
