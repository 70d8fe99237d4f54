// Instances as the provider's callers see them, of a launch and as EC2 describes them. Pure.
#pragma once

#include "cloud/aws/calls/ec2_types.hpp"
#include "cloud/aws/launch/ownership.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"
#include "millwright/cloud/provider.hpp"
#include "millwright/scheduling/instance_type.hpp"

namespace millwright::cloud::aws {

// `type` is the launched one of the class's catalog; nullptr when it is not there any more. `stamp`
// is the class's.
Instance launched_instance(const Launched& launched, const model::NodeClass& node_class,
                           const scheduling::InstanceType* type, const model::HashStamp& stamp);
// Without what EC2 does not tell: the region's and the architecture's labels, and the claim of an
// instance that has no tag for it yet.
Instance described_instance(const Ec2Instance& found);

}  // namespace millwright::cloud::aws
