// What a machine and its kubelet do, whatever its cloud, and a NodePool for its claims.
#pragma once

#include "millwright/cloud/simulated.hpp"
#include "millwright/sandbox/world.hpp"

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

// Its node registers after a while, with something less than its type's capacity.
inline void boot_machine(sandbox::World& world, const MachineShape& shape) {
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
  world.kubelet().launched(instance, nullptr, std::chrono::seconds(20));
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
