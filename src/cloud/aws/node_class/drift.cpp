#include "cloud/aws/node_class/drift.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

bool image_changed(const NodeClassFindings& findings, const Ec2Instance& instance,
                   const std::vector<scheduling::InstanceType>& types) {
  const auto type = std::find_if(types.begin(), types.end(),
                                 [&](const auto& each) { return each.name == instance.type; });
  if (type == types.end() || findings.images.empty()) {
    return false;
  }
  return std::none_of(findings.images.begin(), findings.images.end(), [&](const auto& image) {
    const scheduling::Requirements wanted(image.requirements);
    return image.id == instance.image_id &&
           type->requirements.compatible(wanted, scheduling::AllowUndefined::WellKnown);
  });
}

bool groups_changed(const NodeClassFindings& findings, const Ec2Instance& instance) {
  std::vector<std::string> wanted;
  for (const auto& group : findings.security_groups) {
    wanted.push_back(group.id);
  }
  std::sort(wanted.begin(), wanted.end());
  return !wanted.empty() && wanted != instance.security_groups;
}

bool subnet_changed(const NodeClassFindings& findings, const Ec2Instance& instance) {
  return !findings.subnets.empty() &&
         std::none_of(findings.subnets.begin(), findings.subnets.end(),
                      [&](const auto& subnet) { return subnet.id == instance.subnet_id; });
}

bool reservation_changed(const NodeClassFindings& findings, const Ec2Instance& instance) {
  return !instance.reservation_id.empty() &&
         std::none_of(findings.reservations.begin(), findings.reservations.end(),
                      [&](const auto& each) { return each.id == instance.reservation_id; });
}

}  // namespace

std::string drift_reason(const model::NodeClass& node_class, const Ec2Instance& instance,
                         const std::vector<scheduling::InstanceType>& types) {
  const auto findings = read_status(node_class);
  if (image_changed(findings, instance, types)) {
    return "AMIDrift";
  }
  if (groups_changed(findings, instance)) {
    return "SecurityGroupDrift";
  }
  if (subnet_changed(findings, instance)) {
    return "SubnetDrift";
  }
  return reservation_changed(findings, instance) ? "CapacityReservationDrift" : "";
}

bool placement_changed(const PlacementGroups& groups, const model::NodeClass& node_class,
                       const Ec2Instance& instance) {
  const auto selector = read_spec(node_class).placement;
  if (!selector.is_given()) {
    return !instance.placement_group.empty() || !instance.placement_group_name.empty();
  }
  const auto* group = groups.find(selector);
  if (group == nullptr) {
    return false;
  }
  return instance.placement_group.empty() ? instance.placement_group_name != group->name
                                          : instance.placement_group != group->id;
}

}  // namespace millwright::cloud::aws
