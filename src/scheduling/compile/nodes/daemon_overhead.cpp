#include "scheduling/compile/nodes/daemon_overhead.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace millwright::scheduling {
namespace {

using LivePods = std::map<std::string, const model::Pod*, std::less<>>;  // by DaemonSet uid

bool newer(const model::Pod& a, const model::Pod& b) {
  if (a.meta.creation_timestamp != b.meta.creation_timestamp) {
    return a.meta.creation_timestamp > b.meta.creation_timestamp;
  }
  return a.meta.name > b.meta.name;
}

void keep_newest(LivePods& live, const model::Pod& pod) {
  const auto* owner = pod.meta.controller();
  if (owner == nullptr || owner->kind != "DaemonSet") {
    return;
  }
  const auto found = live.find(owner->uid);
  if (found != live.end() && (found->second == nullptr || newer(pod, *found->second))) {
    found->second = &pod;
  }
}

LivePods newest_daemon_pods(const Problem& problem) {
  LivePods live;
  for (const auto& set : problem.daemon_sets) {
    live.emplace(set->meta.uid, nullptr);
  }
  const auto scan = [&](const std::vector<NodeRecordPtr>& nodes) {
    for (const auto& node : nodes) {
      for (const auto& pod : node->pods) {
        keep_newest(live, *pod);
      }
    }
  };
  if (!live.empty()) {
    const bool everywhere = problem.cluster && !problem.cluster->nodes.empty();
    scan(everywhere ? problem.cluster->nodes : problem.nodes);
  }
  // One that found no room yet says as much: the API server has filled it in.
  if (!live.empty() && problem.cluster) {
    for (const auto& pod : problem.cluster->pending_pods) {
      keep_newest(live, *pod);
    }
  }
  return live;
}

void default_requests_from_limits(model::PodSpec& spec) {
  for (auto* containers : {&spec.containers, &spec.init_containers}) {
    for (auto& container : *containers) {
      for (const auto& [name, quantity] : container.limits) {
        container.requests.try_emplace(name, quantity);
      }
    }
  }
}

std::vector<Requirements> alternatives_of(const model::PodSpec& spec) {
  const Requirements selected = Requirements::from_labels(spec.node_selector);
  if (spec.affinity.required_node_terms.empty()) {
    return {selected};
  }
  std::vector<Requirements> result;
  for (const auto& term : spec.affinity.required_node_terms) {
    result.push_back(selected);
    result.back().add(Requirements(term.match_expressions));
  }
  return result;
}

}  // namespace

std::vector<DaemonPod> daemon_pods(const Problem& problem) {
  const LivePods live = newest_daemon_pods(problem);
  std::vector<DaemonPod> result;
  for (const auto& set : problem.daemon_sets) {
    const model::PodSpec& template_spec = set->pod_template.spec;
    if (!template_spec.resource_claims.empty() || set->meta.is_deleting()) {
      continue;
    }
    const auto found = live.find(set->meta.uid);
    model::Pod pod;
    if (found != live.end() && found->second != nullptr) {
      pod = *found->second;
    } else {
      pod.spec = template_spec;
      default_requests_from_limits(pod.spec);
    }
    pod.spec.node_selector = template_spec.node_selector;
    pod.spec.affinity.required_node_terms = template_spec.affinity.required_node_terms;
    result.push_back({.name = model::key_of(set->meta).to_string(),
                      .requests = effective_requests(pod),
                      .tolerations = pod.spec.tolerations,
                      .alternatives = alternatives_of(pod.spec),
                      .ports = HostPorts(pod.spec)});
  }
  return result;
}

bool daemon_tolerates(const DaemonPod& daemon, std::span<const model::Taint> taints) {
  return std::all_of(taints.begin(), taints.end(), [&](const model::Taint& taint) {
    return taint.effect == "PreferNoSchedule" ||
           model::first_untolerated({&taint, 1}, daemon.tolerations) == nullptr;
  });
}

std::vector<DaemonGroup> daemon_groups(std::span<const DaemonPod> daemons, const TypeTable& table,
                                       const Requirements& requirements,
                                       std::span<const model::Taint> taints) {
  std::vector<DaemonGroup> groups{{.rows = table.all()}};
  for (const DaemonPod& daemon : daemons) {
    if (!daemon_tolerates(daemon, taints)) {
      continue;
    }
    RowSet runs_on(table.size());
    for (const Requirements& alternative : daemon.alternatives) {
      if (requirements.compatible(alternative, AllowUndefined::WellKnown)) {
        runs_on |= table.admitted(alternative);
      }
    }
    // Each group splits into the rows that this daemon joins and those that it does not.
    std::vector<DaemonGroup> split;
    for (DaemonGroup& group : groups) {
      DaemonGroup joined = group;
      joined.rows &= runs_on;
      group.rows -= runs_on;
      if (!group.rows.empty()) {
        split.push_back(std::move(group));
      }
      if (!joined.rows.empty()) {
        model::add_to(joined.requests, daemon.requests);
        joined.ports.add(daemon.ports);
        split.push_back(std::move(joined));
      }
    }
    groups = std::move(split);
  }
  return groups;
}

}  // namespace millwright::scheduling
