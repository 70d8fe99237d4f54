// Karpenter's AWS drift reasons, in its order (pkg/cloudprovider/drift.go). The first of them,
// NodeClassDrift, is read from the claim's hash (node_class_hash.hpp). Pure.
#pragma once

#include "cloud/aws/calls/ec2_types.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"
#include "cloud/aws/node_class/placement_groups.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::aws {

// Why the instance is no longer what its class asks for; empty when it is.
std::string drift_reason(const model::NodeClass& node_class, const Ec2Instance& instance,
                         const std::vector<scheduling::InstanceType>& types);
// The last reason in that order, PlacementGroupDrift: the instance is not in the group that its
// class selects, or in one although it selects none. False while the group is not known.
bool placement_changed(const PlacementGroups& groups, const model::NodeClass& node_class,
                       const Ec2Instance& instance);

}  // namespace millwright::cloud::aws
