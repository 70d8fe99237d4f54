// The labels that an EC2 instance type gives its nodes, as requirements.
#pragma once

#include "cloud/aws/calls/type_facts.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"
#include "millwright/scheduling/requirements.hpp"

#include <span>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

inline constexpr std::string_view kZoneIdLabel = "topology.k8s.aws/zone-id";
inline constexpr std::string_view kNodeClassLabel = "karpenter.k8s.aws/ec2nodeclass";
inline constexpr std::string_view kTenancyLabel = "karpenter.k8s.aws/instance-tenancy";

// Everything but zone, zone id and capacity type, which the offerings decide. A label that does not
// apply to the type is DoesNotExist.
scheduling::Requirements labels_of(const TypeFacts& type, const NodeClassSpec& spec,
                                   std::string_view region);

// The AWS labels that NodePools and pods may use without defining them.
std::span<const std::string_view> well_known_labels();
// Registers them as well known: call it at start-up, before other threads run.
void register_labels();

// Category, generation, family and size of a type's name: "u-6tb1.metal" is u, 1, u-6tb1, metal.
struct NameParts {
  std::string category;    // empty when the name has no known form
  std::string generation;  // empty likewise
  std::string family;
  std::string size;
};
NameParts parts_of_name(std::string_view name);

}  // namespace millwright::cloud::aws
