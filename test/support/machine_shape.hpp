// What a machine's kubelet finds there, where the cloud says CPUs and memory, and a NodePool for
// such machines.
#pragma once

#include "millwright/cloud/provider.hpp"

#include <string>

namespace millwright {

struct MachineShape {
  std::string provider_id;
  std::string node_name;
  std::string type;
  std::string zone;
  int cpus = 0;
  int gib = 0;
};

// Something less than its type's capacity.
inline cloud::Instance instance_of(const MachineShape& shape) {
  cloud::Instance instance;
  instance.provider_id = shape.provider_id;
  instance.node_name = shape.node_name;
  instance.labels = {{"node.kubernetes.io/instance-type", shape.type},
                     {"topology.kubernetes.io/zone", shape.zone}};
  const auto cpu = model::Quantity::from_units(shape.cpus);
  const auto gib = std::int64_t{1} << 30;
  instance.capacity = {{"cpu", cpu},
                       {"memory", model::Quantity::from_units(shape.gib * gib / 100 * 93)},
                       {"pods", model::Quantity::from_units(29)},
                       {"ephemeral-storage", model::Quantity::from_units(40 * gib)}};
  instance.allocatable = instance.capacity;
  instance.allocatable["cpu"] = model::Quantity::from_milli(cpu.milli() - 150);
  instance.allocatable["memory"] = model::Quantity::from_units(shape.gib * gib / 100 * 75);
  return instance;
}

inline std::string node_pool_of(const std::string& group, const std::string& kind) {
  return R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
  template:
    spec:
      nodeClassRef: {group: )" +
         group + ", kind: " + kind + R"(, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
)";
}

}  // namespace millwright
