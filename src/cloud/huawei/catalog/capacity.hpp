// What a CCE node of a flavor can hold: capacity and overhead by the formulas of CCE's
// documentation ("Node Resource Reservation Policy", "Maximum Number of Pods") and of Karpenter's
// provider for Huawei Cloud. Pure.
#pragma once

#include "cloud/huawei/catalog/flavor.hpp"
#include "cloud/huawei/node_class/node_class_spec.hpp"
#include "millwright/model/resources.hpp"

namespace millwright::cloud::huawei {

model::ResourceList capacity_of(const Flavor& flavor, const NodeClassSpec& spec);
// The sum of kube-reserved, system-reserved and eviction thresholds. `capacity` as above.
model::ResourceList overhead_of(const Flavor& flavor, const NodeClassSpec& spec,
                                const model::ResourceList& capacity);

// The kubelet's maxPods: set, or by memory; no more than there are interfaces for pods, where the
// flavor tells how many.
std::int64_t max_pods(const Flavor& flavor, const NodeClassSpec& spec);

// Bytes that ext4 leaves of the logical volume "kubernetes", which has 10 % of a disk of `gib`.
std::int64_t kubernetes_volume_bytes(std::int64_t gib);

}  // namespace millwright::cloud::huawei
