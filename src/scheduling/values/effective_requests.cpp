// What a pod really takes from a node, by the rules of the kubelet and kube-scheduler
// (k8s.io/component-helpers resource.PodRequests), and which pods are planned at all.
#include "millwright/scheduling/solve.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

using model::ResourceList;

constexpr std::string_view kInfeasible = "Infeasible";

bool resize_infeasible(const model::Pod& pod) {
  if (pod.status.resize == kInfeasible) {
    return true;
  }
  const auto* pending = model::find_condition(pod.status.conditions, "PodResizePending");
  return pending != nullptr && pending->reason == kInfeasible;
}

// During an in-place resize the node still accounts for what it has granted (KEP-1287); a resize
// that it called infeasible counts for nothing.
ResourceList container_requests(const model::Pod& pod, const model::Container& container) {
  const auto& statuses = pod.status.container_statuses;
  const auto status = std::find_if(statuses.begin(), statuses.end(), [&](const auto& candidate) {
    return candidate.name == container.name;
  });
  if (status == statuses.end() || (status->allocated.empty() && status->requests.empty())) {
    return container.requests;
  }
  ResourceList result = resize_infeasible(pod) ? ResourceList{} : container.requests;
  model::max_into(result, status->requests);
  model::max_into(result, status->allocated);
  return result;
}

bool has_pod_level_form(std::string_view resource) {
  return resource == model::kCpu || resource == model::kMemory ||
         resource.starts_with("hugepages-");
}

// A pod that asks for nodes of no pool wants nothing from an autoscaler.
bool opts_out(const model::PodSpec& spec) {
  return strict_pod_requirements(spec).get(model::kNodePoolLabel).op() ==
         model::Operator::DoesNotExist;
}

}  // namespace

ResourceList effective_requests(const model::Pod& pod) {
  ResourceList total;
  for (const auto& container : pod.spec.containers) {
    model::add_to(total, container_requests(pod, container));
  }
  // Init containers run one after another, beside the sidecars started before them.
  ResourceList sidecars;
  ResourceList starting;
  for (const auto& container : pod.spec.init_containers) {
    ResourceList requests = container_requests(pod, container);
    if (container.restart_always) {
      model::add_to(total, requests);
      model::add_to(sidecars, requests);
      requests = sidecars;
    } else {
      model::add_to(requests, sidecars);
    }
    model::max_into(starting, requests);
  }
  model::max_into(total, starting);
  for (const auto& [name, quantity] : pod.spec.pod_requests) {
    if (has_pod_level_form(name)) {
      total[name] = quantity;
    }
  }
  model::add_to(total, pod.spec.overhead);
  total[std::string(model::kPods)] = model::Quantity::from_milli(1000);
  return total;
}

bool is_provisionable(const model::Pod& pod) {
  return model::is_reported_unschedulable(pod) && pod.spec.node_name.empty() &&
         pod.status.nominated_node_name.empty() && !model::is_owned_by_daemonset(pod) &&
         !model::is_mirror(pod) && !model::is_terminal(pod) && !pod.meta.is_deleting() &&
         !opts_out(pod.spec);
}

bool is_reschedulable(const model::Pod& pod) {
  const bool active = !model::is_terminal(pod) && !pod.meta.is_deleting();
  const auto& owners = pod.meta.owner_references;
  const bool stateful = std::any_of(owners.begin(), owners.end(),
                                    [](const auto& o) { return o.kind == "StatefulSet"; });
  return (active || (stateful && pod.meta.is_deleting())) && !model::is_owned_by_daemonset(pod) &&
         !model::is_mirror(pod);
}

bool has_successor(const model::Pod& pod) {
  return pod.meta.controller() != nullptr;
}

}  // namespace millwright::scheduling
