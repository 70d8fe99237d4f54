// What a node of a type can hold: capacity and overhead by the formulas of Karpenter's AWS provider
// (pkg/providers/instancetype, types.go). Pure.
#pragma once

#include "cloud/aws/calls/type_facts.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"
#include "millwright/model/resources.hpp"
#include "millwright/scheduling/instance_type.hpp"

namespace millwright::cloud::aws {

struct CapacitySettings {
  double vm_memory_overhead = 0.075;  // VM_MEMORY_OVERHEAD_PERCENT
  std::int64_t reserved_enis = 0;     // RESERVED_ENIS
};

model::ResourceList capacity_of(const TypeFacts& type, const NodeClassSpec& spec,
                                const CapacitySettings& settings);
// The sum of kube-reserved, system-reserved and eviction thresholds. `capacity` as above.
model::ResourceList overhead_of(const TypeFacts& type, const NodeClassSpec& spec,
                                const model::ResourceList& capacity);

// Attach limits: what EC2 tells, less the volumes that a node starts with. More interfaces leave
// room for fewer volumes on most types; a CSINode says so once there is one.
scheduling::VolumeCounts volume_limits_of(const TypeFacts& type, const NodeClassSpec& spec);

// kubelet's maxPods: set, or by addresses, or Windows' 110; then podsPerCore.
std::int64_t max_pods(const TypeFacts& type, const NodeClassSpec& spec, std::int64_t reserved_enis);
// kube-reserved alone, for user data: computed, with kubelet.kubeReserved over it.
model::ResourceList kube_reserved(const TypeFacts& type, const NodeClassSpec& spec,
                                  std::int64_t pods);

}  // namespace millwright::cloud::aws
