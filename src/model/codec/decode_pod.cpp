#include "millwright/model/codec.hpp"
#include "model/codec/pod_reader.hpp"
#include "model/codec/reader.hpp"

namespace millwright::model {
namespace detail {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

// Not in an unnamed namespace: Reader::field finds these by argument-dependent lookup.
void read(const Reader& reader, ContainerPort& out) {
  reader.field("containerPort", out.container_port);
  reader.field("hostPort", out.host_port);
  reader.field("hostIP", out.host_ip);
  reader.field("protocol", out.protocol);
}

void read(const Reader& reader, Container& out) {
  reader.field("name", out.name);
  reader.field("image", out.image);
  reader.field("resources.requests", out.requests);
  reader.field("resources.limits", out.limits);
  reader.field("ports", out.ports);
  std::string restart_policy;
  reader.field("restartPolicy", restart_policy);
  out.restart_always = restart_policy == "Always";
}

void read(const Reader& reader, PreferredNodeTerm& out) {
  reader.field("weight", out.weight);
  reader.field("preference", out.term);
}

void read(const Reader& reader, PodAffinityTerm& out) {
  reader.field("labelSelector", out.label_selector);
  reader.field("namespaces", out.namespaces);
  reader.field("namespaceSelector", out.namespace_selector);
  reader.field("topologyKey", out.topology_key);
  reader.field("matchLabelKeys", out.match_label_keys);
  reader.field("mismatchLabelKeys", out.mismatch_label_keys);
}

void read(const Reader& reader, WeightedPodAffinityTerm& out) {
  reader.field("weight", out.weight);
  reader.field("podAffinityTerm", out.term);
}

void read(const Reader& reader, Affinity& out) {
  if (const auto node = reader.find("nodeAffinity")) {
    if (const auto required = node->find(kRequired)) {
      required->field("nodeSelectorTerms", out.required_node_terms);
    }
    node->field(kPreferred, out.preferred_node_terms);
  }
  if (const auto pod = reader.find("podAffinity")) {
    pod->field(kRequired, out.required_pod_affinity);
    pod->field(kPreferred, out.preferred_pod_affinity);
  }
  if (const auto pod = reader.find("podAntiAffinity")) {
    pod->field(kRequired, out.required_pod_anti_affinity);
    pod->field(kPreferred, out.preferred_pod_anti_affinity);
  }
}

void read(const Reader& reader, TopologySpreadConstraint& out) {
  reader.field("maxSkew", out.max_skew);
  reader.field("topologyKey", out.topology_key);
  reader.field("whenUnsatisfiable", out.when_unsatisfiable);
  reader.field("labelSelector", out.label_selector);
  reader.field("minDomains", out.min_domains);
  reader.field("nodeAffinityPolicy", out.node_affinity_policy);
  reader.field("nodeTaintsPolicy", out.node_taints_policy);
  reader.field("matchLabelKeys", out.match_label_keys);
}

void read(const Reader& reader, PodVolume& out) {
  reader.field("name", out.name);
  reader.field("persistentVolumeClaim.claimName", out.claim_name);
  reader.at("ephemeral", [&out](const Reader& ephemeral) {
    out.ephemeral = true;
    ephemeral.field("volumeClaimTemplate.spec.storageClassName", out.ephemeral_storage_class);
  });
}

void read(const Reader& reader, PodResourceClaim& out) {
  reader.field("name", out.name);
  reader.field("resourceClaimName", out.claim_name);
  reader.field("resourceClaimTemplateName", out.template_name);
}

// The names of a list of {name: ...} entries.
void read_names(const Reader& reader, std::string_view key, std::vector<std::string>& out) {
  reader.at(key, [&out](const Reader& list) {
    const auto* const items = list.value().if_array();
    if (items == nullptr) {
      list.expected("a list");
      return;
    }
    for (std::size_t i = 0; i < items->size(); ++i) {
      list.step(i, (*items)[i]).field("name", out.emplace_back());
    }
  });
}

void read(const Reader& reader, ContainerResourceStatus& out) {
  reader.field("name", out.name);
  reader.field("allocatedResources", out.allocated);
  reader.field("resources.requests", out.requests);
}

void read(const Reader& reader, PodStatus& out) {
  reader.field("phase", out.phase);
  reader.field("conditions", out.conditions);
  reader.field("nominatedNodeName", out.nominated_node_name);
  reader.field("startTime", out.start_time);
  // Names are unique across containers and init containers, so one list holds both.
  reader.field("containerStatuses", out.container_statuses);
  std::vector<ContainerResourceStatus> init;
  reader.field("initContainerStatuses", init);
  out.container_statuses.insert(out.container_statuses.end(), init.begin(), init.end());
  reader.field("resize", out.resize);
  // Since Kubernetes 1.33 a condition says what status.resize said before.
  const Condition* const pending = find_condition(out.conditions, "PodResizePending");
  if (out.resize.empty() && pending != nullptr && pending->status == ConditionStatus::True) {
    out.resize = pending->reason;
  }
}

void read(const Reader& reader, Pod& out) {
  reader.field("metadata", out.meta);
  reader.field("spec", out.spec);
  reader.field("status", out.status);
}

void read(const Reader& reader, PodSpec& out) {
  reader.field("nodeName", out.node_name);
  reader.field("schedulerName", out.scheduler_name);
  reader.field("nodeSelector", out.node_selector);
  reader.field("affinity", out.affinity);
  reader.field("tolerations", out.tolerations);
  reader.field("topologySpreadConstraints", out.topology_spread);
  reader.field("containers", out.containers);
  reader.field("initContainers", out.init_containers);
  reader.field("overhead", out.overhead);
  reader.field("resources.requests", out.pod_requests);
  reader.field("resources.limits", out.pod_limits);
  reader.field("volumes", out.volumes);
  reader.field("resourceClaims", out.resource_claims);
  read_names(reader, "schedulingGates", out.scheduling_gates);
  reader.field("priorityClassName", out.priority_class_name);
  reader.field("priority", out.priority);
  reader.field("preemptionPolicy", out.preemption_policy);
  reader.field("restartPolicy", out.restart_policy);
  reader.field("terminationGracePeriodSeconds", out.termination_grace_period_seconds);
}

void read(const Reader& reader, PodTemplate& out) {
  reader.field("metadata.labels", out.labels);
  reader.field("metadata.annotations", out.annotations);
  reader.field("spec", out.spec);
}

}  // namespace detail

template <>
base::Result<Pod> decode<Pod>(const boost::json::value& json) {
  return detail::decode_object<Pod>("Pod", json);
}

base::Result<PodTemplate> decode_pod_template(const boost::json::value& json) {
  std::string problem;
  PodTemplate pod_template;
  read(detail::Reader(json, problem), pod_template);
  if (!problem.empty()) {
    return base::fail(base::ErrorKind::Invalid, "pod template: " + problem);
  }
  return pod_template;
}

}  // namespace millwright::model
