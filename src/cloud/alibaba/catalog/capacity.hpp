// What a node of a type can hold: capacity and overhead by ACK's published reservation policy and
// the formulas of CloudPilot's provider. Pure.
#pragma once

#include "cloud/alibaba/calls/cs.hpp"
#include "cloud/alibaba/calls/ecs_types.hpp"
#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/model/resources.hpp"

#include <cstdint>
#include <string_view>

namespace millwright::cloud::alibaba {

// How Terway gives a node's network interfaces to pods.
enum class Interfaces : std::uint8_t {
  Shared,     // several pods on each
  Trunk,      // so, and a pod that asks for aliyun/member-eni has one of its own
  Exclusive,  // one pod on each: it asks for aliyun/eni
};

struct CapacitySettings {
  double vm_memory_overhead = 0.065;  // VM_MEMORY_OVERHEAD_PERCENT
  Network network = Network::Terway;
  Interfaces interfaces = Interfaces::Shared;
};

// Terway gives each pod an interface on nodes that register with this label; ACK's node pools have
// it for that, and a NodePool's template may have it as well.
inline constexpr std::string_view kExclusiveLabel = "k8s.aliyun.com/exclusive-mode-eni-type";
inline constexpr std::string_view kExclusive = "eniOnly";

model::ResourceList capacity_of(const TypeFacts& type, const NodeClassSpec& spec,
                                const CapacitySettings& settings);
// kube-reserved and system-reserved. No eviction threshold is taken off: ACK's reservation has it.
model::ResourceList overhead_of(const TypeFacts& type, const NodeClassSpec& spec,
                                const model::ResourceList& capacity);

// kubelet's maxPods: set, or by the CNI; then podsPerCore.
std::int64_t max_pods(const TypeFacts& type, const NodeClassSpec& spec, Network network);
// False for types whose interfaces carry so few pods that ACK does not take them.
bool has_room_for_pods(const TypeFacts& type, const NodeClassSpec& spec,
                       const CapacitySettings& settings);

}  // namespace millwright::cloud::alibaba
