#include "sandbox/scheduler/filters.hpp"

#include "millwright/scheduling/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace millwright::sandbox {

namespace {

bool tolerates(const model::Pod& pod, const model::Taint& taint) {
  return std::any_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                     [&](const model::Toleration& t) { return t.tolerates(taint); });
}

bool is_hard(const model::Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

using HostPort = std::tuple<std::string, std::int32_t, std::string>;  // protocol, port, address

std::set<HostPort> host_ports(const model::Pod& pod) {
  std::set<HostPort> ports;
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const auto& container : *containers) {
      if (containers == &pod.spec.init_containers && !container.restart_always) {
        continue;
      }
      for (const auto& port : container.ports) {
        if (port.host_port > 0) {
          const auto address = port.host_ip.empty() ? std::string("0.0.0.0") : port.host_ip;
          ports.insert({port.protocol, port.host_port, address});
        }
      }
    }
  }
  return ports;
}

bool ports_clash(const std::set<HostPort>& a, const std::set<HostPort>& b) {
  for (const auto& [protocol, port, address] : a) {
    for (const auto& [other_protocol, other_port, other_address] : b) {
      if (protocol == other_protocol && port == other_port &&
          (address == other_address || address == "0.0.0.0" || other_address == "0.0.0.0")) {
        return true;
      }
    }
  }
  return false;
}

void check_resources(const model::Pod& pod, const NodeInfo& info,
                     std::vector<std::string>& reasons) {
  for (const auto& [name, wanted] : scheduling::effective_requests(pod)) {
    if (wanted.is_zero()) {
      continue;
    }
    const auto total = model::get(info.node->allocatable, name);
    const auto used = model::get(info.requested, name);
    if (wanted > total - used) {
      reasons.push_back(name == model::kPods ? std::string("Too many pods")
                                             : fmt::format("Insufficient {}", name));
    }
  }
}

}  // namespace

bool matches_node(const model::Pod& pod, const model::Node& node) {
  for (const auto& [key, value] : pod.spec.node_selector) {
    if (const auto found = node.meta.labels.find(key);
        found == node.meta.labels.end() || found->second != value) {
      return false;
    }
  }
  const auto& terms = pod.spec.affinity.required_node_terms;
  return terms.empty() ||
         std::any_of(terms.begin(), terms.end(), [&](const model::NodeSelectorTerm& term) {
           return model::matches(term, node.meta.labels, node.meta.name);
         });
}

std::vector<std::string> fixed_reasons(const model::Pod& pod, const model::Node& node) {
  if (!pod.spec.node_name.empty() && pod.spec.node_name != node.meta.name) {
    return {"node(s) didn't match the requested node name"};
  }
  const model::Taint cordon{"node.kubernetes.io/unschedulable", {}, "NoSchedule", {}};
  if (node.unschedulable && !tolerates(pod, cordon)) {
    return {"node(s) were unschedulable"};
  }
  for (const auto& taint : node.taints) {
    if (is_hard(taint) && !tolerates(pod, taint)) {
      return {fmt::format("node(s) had untolerated taint {{{}: {}}}", taint.key, taint.value)};
    }
  }
  if (!matches_node(pod, node)) {
    return {"node(s) didn't match Pod's node affinity/selector"};
  }
  return {};
}

std::vector<std::string> node_reasons(const model::Pod& pod, const NodeInfo& info) {
  auto fixed = fixed_reasons(pod, *info.node);
  if (!fixed.empty()) {
    return fixed;
  }
  if (const auto wanted = host_ports(pod); !wanted.empty()) {
    for (const auto& [uid, other] : info.pods) {
      if (ports_clash(wanted, host_ports(*other))) {
        return {"node(s) didn't have free ports for the requested pod ports"};
      }
    }
  }
  std::vector<std::string> reasons;
  check_resources(pod, info, reasons);
  return reasons;
}

}  // namespace millwright::sandbox
