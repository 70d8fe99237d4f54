#include "millwright/model/codec.hpp"
#include "model/codec/writer.hpp"

#include <algorithm>

namespace millwright::model {
namespace {

namespace json = boost::json;
using detail::list_of;
using detail::put;
using detail::put_flag;
using detail::put_number;

json::object encode_port(const ContainerPort& port) {
  json::object out{{"containerPort", port.container_port}};
  put_number(out, "hostPort", port.host_port);
  put(out, "hostIP", port.host_ip);
  put(out, "protocol", port.protocol);
  return out;
}

json::object encode_container(const Container& container) {
  json::object out{{"name", container.name}};
  put(out, "image", container.image);
  put(out, "resources", detail::encode_resources(container.requests, container.limits));
  put(out, "ports", list_of(container.ports, encode_port));
  put(out, "restartPolicy", std::string(container.restart_always ? "Always" : ""));
  return out;
}

json::object encode_affinity_term(const PodAffinityTerm& term) {
  json::object out;
  if (term.label_selector) {
    out.emplace("labelSelector", encode(*term.label_selector));
  }
  put(out, "namespaces", term.namespaces);
  // An empty namespace selector means every namespace, an absent one the pod's own.
  if (term.namespace_selector) {
    out.emplace("namespaceSelector", encode(*term.namespace_selector));
  }
  out.emplace("topologyKey", term.topology_key);
  put(out, "matchLabelKeys", term.match_label_keys);
  put(out, "mismatchLabelKeys", term.mismatch_label_keys);
  return out;
}

json::object encode_weighted_term(const WeightedPodAffinityTerm& weighted) {
  return {{"weight", weighted.weight}, {"podAffinityTerm", encode_affinity_term(weighted.term)}};
}

json::object encode_pod_affinity(const std::vector<PodAffinityTerm>& required,
                                 const std::vector<WeightedPodAffinityTerm>& preferred) {
  json::object out;
  put(out, "requiredDuringSchedulingIgnoredDuringExecution",
      list_of(required, encode_affinity_term));
  put(out, "preferredDuringSchedulingIgnoredDuringExecution",
      list_of(preferred, encode_weighted_term));
  return out;
}

json::object encode_affinity(const Affinity& affinity) {
  json::object node;
  if (!affinity.required_node_terms.empty()) {
    node.emplace("requiredDuringSchedulingIgnoredDuringExecution",
                 json::object{{"nodeSelectorTerms",
                               list_of(affinity.required_node_terms, detail::encode_node_term)}});
  }
  put(node, "preferredDuringSchedulingIgnoredDuringExecution",
      list_of(affinity.preferred_node_terms, [](const PreferredNodeTerm& preferred) {
        return json::object{{"weight", preferred.weight},
                            {"preference", detail::encode_node_term(preferred.term)}};
      }));
  json::object out;
  put(out, "nodeAffinity", node);
  put(out, "podAffinity",
      encode_pod_affinity(affinity.required_pod_affinity, affinity.preferred_pod_affinity));
  put(out, "podAntiAffinity",
      encode_pod_affinity(affinity.required_pod_anti_affinity,
                          affinity.preferred_pod_anti_affinity));
  return out;
}

json::object encode_toleration(const Toleration& toleration) {
  json::object out;
  put(out, "key", toleration.key);
  put(out, "operator", toleration.op);
  put(out, "value", toleration.value);
  put(out, "effect", toleration.effect);
  put(out, "tolerationSeconds", toleration.toleration_seconds);
  return out;
}

json::object encode_spread(const TopologySpreadConstraint& spread) {
  json::object out{{"maxSkew", spread.max_skew},
                   {"topologyKey", spread.topology_key},
                   {"whenUnsatisfiable", spread.when_unsatisfiable}};
  if (spread.label_selector) {
    out.emplace("labelSelector", encode(*spread.label_selector));
  }
  put(out, "minDomains", spread.min_domains);
  put(out, "nodeAffinityPolicy", spread.node_affinity_policy);
  put(out, "nodeTaintsPolicy", spread.node_taints_policy);
  put(out, "matchLabelKeys", spread.match_label_keys);
  return out;
}

json::object encode_volume(const PodVolume& volume) {
  json::object out{{"name", volume.name}};
  if (!volume.claim_name.empty()) {
    out.emplace("persistentVolumeClaim", json::object{{"claimName", volume.claim_name}});
  }
  if (volume.ephemeral) {
    json::object spec;
    put(spec, "storageClassName", volume.ephemeral_storage_class);
    out.emplace("ephemeral",
                json::object{{"volumeClaimTemplate", json::object{{"spec", std::move(spec)}}}});
  }
  return out;
}

json::object encode_resource_claim(const PodResourceClaim& claim) {
  json::object out;
  put(out, "name", claim.name);
  put(out, "resourceClaimName", claim.claim_name);
  put(out, "resourceClaimTemplateName", claim.template_name);
  return out;
}

json::object encode_name(const std::string& name) {
  return {{"name", name}};
}

json::array encode_statuses(const Pod& pod, bool init) {
  json::array list;
  const auto& init_containers = pod.spec.init_containers;
  for (const ContainerResourceStatus& status : pod.status.container_statuses) {
    const bool is_init = std::any_of(
        init_containers.begin(), init_containers.end(),
        [&status](const Container& container) { return container.name == status.name; });
    if (is_init != init) {
      continue;
    }
    json::object out{{"name", status.name}};
    put(out, "allocatedResources", encode(status.allocated));
    put(out, "resources", detail::encode_resources(status.requests, {}));
    list.push_back(std::move(out));
  }
  return list;
}

json::object encode_status(const Pod& pod) {
  const PodStatus& status = pod.status;
  json::object out;
  put(out, "phase", status.phase);
  put(out, "conditions", detail::encode_core_conditions(status.conditions));
  put(out, "nominatedNodeName", status.nominated_node_name);
  put(out, "startTime", status.start_time);
  put(out, "containerStatuses", encode_statuses(pod, false));
  put(out, "initContainerStatuses", encode_statuses(pod, true));
  put(out, "resize", status.resize);
  return out;
}

}  // namespace

json::value detail::encode_pod_spec(const PodSpec& spec) {
  json::object out;
  put(out, "nodeName", spec.node_name);
  put(out, "schedulerName", spec.scheduler_name);
  put(out, "nodeSelector", encode(spec.node_selector));
  put(out, "affinity", encode_affinity(spec.affinity));
  put(out, "tolerations", list_of(spec.tolerations, encode_toleration));
  put(out, "topologySpreadConstraints", list_of(spec.topology_spread, encode_spread));
  out.emplace("containers", list_of(spec.containers, encode_container));
  put(out, "initContainers", list_of(spec.init_containers, encode_container));
  put(out, "overhead", encode(spec.overhead));
  put(out, "resources", encode_resources(spec.pod_requests, spec.pod_limits));
  put(out, "volumes", list_of(spec.volumes, encode_volume));
  put(out, "resourceClaims", list_of(spec.resource_claims, encode_resource_claim));
  put(out, "schedulingGates", list_of(spec.scheduling_gates, encode_name));
  put(out, "priorityClassName", spec.priority_class_name);
  put_number(out, "priority", spec.priority);
  put(out, "preemptionPolicy", spec.preemption_policy);
  put(out, "restartPolicy", spec.restart_policy);
  put(out, "terminationGracePeriodSeconds", spec.termination_grace_period_seconds);
  return out;
}

json::value encode(const Pod& pod) {
  json::object out{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata", detail::encode_meta(pod.meta)},
                   {"spec", detail::encode_pod_spec(pod.spec)}};
  put(out, "status", encode_status(pod));
  return out;
}

}  // namespace millwright::model
