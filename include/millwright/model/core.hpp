// The other core kinds: Node, volumes, disruption budgets, workload owners.
#pragma once

#include "millwright/model/pod.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millwright::model {

struct Node {
  ObjectMeta meta;
  std::string provider_id;
  bool unschedulable = false;
  std::vector<Taint> taints;
  ResourceList capacity;
  ResourceList allocatable;
  std::vector<Condition> conditions;
  friend bool operator==(const Node&, const Node&) = default;
};
bool is_ready(const Node& node);

struct PersistentVolumeClaim {
  ObjectMeta meta;
  std::string volume_name;
  std::string storage_class;  // empty when absent
  std::vector<std::string> access_modes;
  std::string phase;
  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

struct PersistentVolume {
  ObjectMeta meta;
  std::string csi_driver;
  bool local_or_host_path = false;
  std::vector<NodeSelectorTerm> required_node_terms;
  std::string storage_class;
  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

struct StorageClass {
  ObjectMeta meta;
  std::string provisioner;
  std::string volume_binding_mode;
  std::vector<NodeSelectorTerm> allowed_topologies;  // each term's expressions are all In
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

struct CSINodeDriver {
  std::string name;
  std::optional<std::int32_t> allocatable_count;
  friend bool operator==(const CSINodeDriver&, const CSINodeDriver&) = default;
};
struct CSINode {
  ObjectMeta meta;
  std::vector<CSINodeDriver> drivers;
  friend bool operator==(const CSINode&, const CSINode&) = default;
};

struct VolumeAttachment {
  ObjectMeta meta;
  std::string node_name;
  std::string persistent_volume_name;
  friend bool operator==(const VolumeAttachment&, const VolumeAttachment&) = default;
};

struct PodDisruptionBudget {
  ObjectMeta meta;
  std::optional<LabelSelector> selector;
  std::string min_available;  // integer or percentage text; empty when absent
  std::string max_unavailable;
  std::string unhealthy_pod_eviction_policy;
  std::int32_t disruptions_allowed = 0;
  std::int64_t observed_generation = 0;
  friend bool operator==(const PodDisruptionBudget&, const PodDisruptionBudget&) = default;
};

struct PodTemplate {
  StringMap labels;
  StringMap annotations;
  PodSpec spec;
  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;
};

struct DaemonSet {
  ObjectMeta meta;
  LabelSelector selector;
  PodTemplate pod_template;
  friend bool operator==(const DaemonSet&, const DaemonSet&) = default;
};

// Pods carry their own priority; templates of pods only the name of their class.
struct PriorityClass {
  ObjectMeta meta;
  std::int32_t value = 0;
  bool global_default = false;  // of pods that name no class
  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

struct Namespace {
  ObjectMeta meta;
  friend bool operator==(const Namespace&, const Namespace&) = default;
};

}  // namespace millwright::model
