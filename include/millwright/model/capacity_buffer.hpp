// CapacityBuffer (autoscaling.x-k8s.io/v1beta1): room for pods that do not exist yet. The API of
// Kubernetes' autoscaling working group, as Karpenter reads it.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/resources.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millwright::model {

struct CapacityBuffer {
  ObjectMeta meta;
  std::string provisioning_strategy;
  std::string pod_template;  // name of a PodTemplate in the namespace; or
  struct Scalable {          // a workload whose pod template counts
    std::string api_group;   // empty: apps
    std::string kind;
    std::string name;
    friend bool operator==(const Scalable&, const Scalable&) = default;
  };
  std::optional<Scalable> scalable;
  std::optional<std::int32_t> replicas;
  std::optional<std::int32_t> percentage;  // of the workload's replicas
  std::optional<ResourceList> limits;
  // status
  std::string status_pod_template;
  std::optional<std::int32_t> status_replicas;
  std::optional<std::int64_t> pod_template_generation;
  std::vector<Condition> conditions;
  friend bool operator==(const CapacityBuffer&, const CapacityBuffer&) = default;
};

// Condition types.
inline constexpr std::string_view kReadyForProvisioning = "ReadyForProvisioning";
inline constexpr std::string_view kProvisioning = "Provisioning";

// Marks the pods that stand for a buffer in a plan.
inline constexpr std::string_view kBufferPodAnnotation = "karpenter.sh/capacity-buffer-fake-pod";
inline constexpr std::string_view kBufferNameAnnotation = "karpenter.sh/capacity-buffer-name";
inline constexpr std::string_view kBufferNamespaceAnnotation =
    "karpenter.sh/capacity-buffer-namespace";
// Ours, on a CapacityBuffer: "true" keeps its room for the pods of its own workload, that of a
// PodTemplate for pods of at least its priority.
inline constexpr std::string_view kKeepForOwnerAnnotation = "millwright.io/keep-for-owner";
inline constexpr std::string_view kActiveCapacity = "buffer.x-k8s.io/active-capacity";

}  // namespace millwright::model
