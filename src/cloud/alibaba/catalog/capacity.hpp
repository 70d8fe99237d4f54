// What a node of a type can hold: capacity and overhead by ACK's published reservation policy and
// the formulas of CloudPilot's provider. Pure.
#pragma once

#include "cloud/alibaba/calls/cs.hpp"
#include "cloud/alibaba/calls/ecs_types.hpp"
#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/model/resources.hpp"

namespace millwright::cloud::alibaba {

struct CapacitySettings {
  double vm_memory_overhead = 0.065;  // VM_MEMORY_OVERHEAD_PERCENT
  Network network = Network::Terway;
};

model::ResourceList capacity_of(const TypeFacts& type, const NodeClassSpec& spec,
                                const CapacitySettings& settings);
// kube-reserved and system-reserved. No eviction threshold is taken off: ACK's reservation has it.
model::ResourceList overhead_of(const TypeFacts& type, const NodeClassSpec& spec,
                                const model::ResourceList& capacity);

// kubelet's maxPods: set, or by the CNI; then podsPerCore.
std::int64_t max_pods(const TypeFacts& type, const NodeClassSpec& spec, Network network);
// False for types whose interfaces carry so few pods that ACK does not take them.
bool has_room_for_pods(const TypeFacts& type, const NodeClassSpec& spec, Network network);

}  // namespace millwright::cloud::alibaba
