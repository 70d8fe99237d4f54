// The drift hash of an ECSNodeClass, and how instances differ from what their class selects now.
// Pure.
#pragma once

#include "cloud/alibaba/calls/ecs_types.hpp"
#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::alibaba {

// Not the hash of CloudPilot's provider (version v3) nor of Alibaba's own (v1), whose Go types
// those are made of: a version of its own keeps nodes that came from there from being replaced.
inline constexpr std::string_view kHashVersion = "millwright-v1";

// What selects vSwitches, security groups and images does not count: their drift is found on the
// instance. The annotations are those of the class's group.
model::HashStamp hash_stamp(const model::NodeClass& node_class);

// "ImageDrift", "SecurityGroupDrift" or "VSwitchDrift" when the instance has what its class does
// not select any more; otherwise empty.
std::string drift_reason(const NodeClassFindings& findings, const EcsInstance& instance,
                         const scheduling::InstanceType* type);

}  // namespace millwright::cloud::alibaba
