// core/v1 Pod, as far as planning, draining and the sandbox need it.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/resources.hpp"
#include "millwright/model/selector.hpp"
#include "millwright/model/taints.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millwright::model {

struct ContainerPort {
  std::int32_t container_port = 0;
  std::int32_t host_port = 0;
  std::string host_ip;
  std::string protocol = "TCP";
  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

struct Container {
  std::string name;
  std::string image;
  ResourceList requests;
  ResourceList limits;
  std::vector<ContainerPort> ports;
  bool restart_always = false;  // an init container with restartPolicy Always: a sidecar
  friend bool operator==(const Container&, const Container&) = default;
};

struct PreferredNodeTerm {
  std::int32_t weight = 1;
  NodeSelectorTerm term;
  friend bool operator==(const PreferredNodeTerm&, const PreferredNodeTerm&) = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespace_selector;
  std::string topology_key;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;
  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct WeightedPodAffinityTerm {
  std::int32_t weight = 1;
  PodAffinityTerm term;
  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};

struct Affinity {
  std::vector<NodeSelectorTerm> required_node_terms;  // any of them
  std::vector<PreferredNodeTerm> preferred_node_terms;
  std::vector<PodAffinityTerm> required_pod_affinity;
  std::vector<WeightedPodAffinityTerm> preferred_pod_affinity;
  std::vector<PodAffinityTerm> required_pod_anti_affinity;
  std::vector<WeightedPodAffinityTerm> preferred_pod_anti_affinity;
  friend bool operator==(const Affinity&, const Affinity&) = default;
};

struct TopologySpreadConstraint {
  std::int32_t max_skew = 1;
  std::string topology_key;
  std::string when_unsatisfiable;  // DoNotSchedule, ScheduleAnyway
  std::optional<LabelSelector> label_selector;
  std::optional<std::int32_t> min_domains;
  std::string node_affinity_policy;  // "", Honor, Ignore
  std::string node_taints_policy;
  std::vector<std::string> match_label_keys;
  friend bool operator==(const TopologySpreadConstraint&,
                         const TopologySpreadConstraint&) = default;
};

struct PodVolume {
  std::string name;
  std::string claim_name;  // persistentVolumeClaim.claimName; empty for other sources
  bool ephemeral = false;  // a generic ephemeral volume: its claim is "<pod>-<name>"
  std::string ephemeral_storage_class;
  friend bool operator==(const PodVolume&, const PodVolume&) = default;
};

// Devices by dynamic resource allocation: a ResourceClaim, or one made for this pod alone.
struct PodResourceClaim {
  std::string name;
  std::string claim_name;     // resourceClaimName
  std::string template_name;  // resourceClaimTemplateName; one of the two is empty
  friend bool operator==(const PodResourceClaim&, const PodResourceClaim&) = default;
};

struct PodSpec {
  std::string node_name;
  std::string scheduler_name;
  StringMap node_selector;
  Affinity affinity;
  std::vector<Toleration> tolerations;
  std::vector<TopologySpreadConstraint> topology_spread;
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  ResourceList overhead;
  ResourceList pod_requests;  // spec.resources (pod-level resources)
  ResourceList pod_limits;
  std::vector<PodVolume> volumes;
  std::vector<PodResourceClaim> resource_claims;
  std::vector<std::string> scheduling_gates;
  std::string priority_class_name;
  std::int32_t priority = 0;
  std::string preemption_policy;
  std::string restart_policy;
  std::optional<std::int64_t> termination_grace_period_seconds;
  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

// status.containerStatuses[].allocatedResources and .resources.requests, for in-place resize.
struct ContainerResourceStatus {
  std::string name;
  ResourceList allocated;
  ResourceList requests;
  friend bool operator==(const ContainerResourceStatus&, const ContainerResourceStatus&) = default;
};

struct PodStatus {
  std::string phase;
  std::vector<Condition> conditions;
  std::string nominated_node_name;
  std::optional<base::TimePoint> start_time;
  std::vector<ContainerResourceStatus> container_statuses;
  std::string resize;  // "Infeasible" means the new request does not count
  friend bool operator==(const PodStatus&, const PodStatus&) = default;
};

struct Pod {
  ObjectMeta meta;
  PodSpec spec;
  PodStatus status;
  friend bool operator==(const Pod&, const Pod&) = default;
};

bool is_terminal(const Pod& pod);  // phase Succeeded or Failed
bool is_owned_by_daemonset(const Pod& pod);
bool is_mirror(const Pod& pod);  // owned by a Node: a static pod
// PodScheduled is reported with reason Unschedulable.
bool is_reported_unschedulable(const Pod& pod);

}  // namespace millwright::model
