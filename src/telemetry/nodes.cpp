// Each node's resources: allocatable, requested, limits.

#include "telemetry/sections.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace millwright::telemetry {
namespace {

// Amounts by resource. A node has a handful; a vector is faster to add to than a map.
class Amounts {
 public:
  double& of(std::string_view resource) {
    for (auto& [name, amount] : items_) {
      if (name == resource) {
        return amount;
      }
    }
    return items_.emplace_back(resource, 0.0).second;
  }
  void add(const model::ResourceList& list) {
    for (const auto& [name, quantity] : list) {
      of(name) += quantity.as_double();
    }
  }
  void raise(const Amounts& others) {
    for (const auto& [name, amount] : others.items_) {
      double& mine = of(name);
      mine = std::max(mine, amount);
    }
  }
  void add(const Amounts& others) {
    for (const auto& [name, amount] : others.items_) {
      of(name) += amount;
    }
  }
  const std::vector<std::pair<std::string_view, double>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string_view, double>> items_;
};

// As Kubernetes counts a pod's limits: its containers and sidecars together, or an init container
// beside the sidecars started before it, whichever is more; what the pod says for itself overrides.
Amounts limits_of(const model::Pod& pod) {
  Amounts total;
  Amounts sidecars;
  Amounts starting;
  for (const auto& container : pod.spec.init_containers) {
    if (container.restart_always) {
      sidecars.add(container.limits);
    } else {
      Amounts now = sidecars;
      now.add(container.limits);
      starting.raise(now);
    }
  }
  for (const auto& container : pod.spec.containers) {
    total.add(container.limits);
  }
  total.add(sidecars);
  total.raise(starting);
  for (const auto& [name, quantity] : pod.spec.pod_limits) {
    total.of(name) = quantity.as_double();
  }
  for (const auto& [name, quantity] : pod.spec.overhead) {
    if (double& limit = total.of(name); limit > 0) {
      limit += quantity.as_double();
    }
  }
  total.of("pods") = 1;
  return total;
}

struct NodeText {
  const scheduling::NodeRecord* record;
  Labels labels;
  Amounts limits;
  Amounts daemon_limits;
};

// The label keys that become labels of the series, by the names they get there: those every cloud
// knows, and those of its clouds that some node carries.
std::map<std::string, std::string_view> label_columns(const scheduling::Snapshot& snapshot) {
  std::unordered_set<std::string_view> keys{model::kNodePoolLabel,     model::kZoneLabel,
                                            model::kRegionLabel,       model::kInstanceTypeLabel,
                                            model::kArchLabel,         model::kOsLabel,
                                            model::kCapacityTypeLabel, model::kWindowsBuildLabel};
  std::unordered_set<std::string_view> unknown;
  for (const auto& record : snapshot.nodes) {
    if (!record->node) {
      continue;
    }
    for (const auto& [key, value] : record->node->meta.labels) {
      if (!keys.contains(key) && !unknown.contains(key)) {
        (model::is_well_known_label(key) ? keys : unknown).insert(key);
      }
    }
  }
  std::map<std::string, std::string_view> columns;
  for (const auto key : keys) {
    auto& column = columns[label_name(resource_label(key.substr(key.find('/') + 1)))];
    column = column.empty() ? key : std::min(column, key);
  }
  return columns;
}

std::vector<NodeText> node_texts(const scheduling::Snapshot& snapshot) {
  const auto columns = label_columns(snapshot);
  std::vector<NodeText> nodes;
  nodes.reserve(snapshot.nodes.size());
  for (const auto& record : snapshot.nodes) {
    if (!record->node) {
      continue;
    }
    NodeText node{.record = record.get(), .labels = {}, .limits = {}, .daemon_limits = {}};
    const auto& meta = record->node->meta;
    node.labels.add("node_name", meta.name).add("phase", "");
    node.labels.add("managed", record->managed() ? "true" : "false");
    for (const auto& [name, key] : columns) {
      node.labels.add(name, meta.label(key));
    }
    for (const auto& pod : record->pods) {
      const Amounts limits = limits_of(*pod);
      node.limits.add(limits);
      if (model::is_owned_by_daemonset(*pod)) {
        node.daemon_limits.add(limits);
      }
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

template <class Of>
void write_family(Text& text, const std::vector<NodeText>& nodes, Of resources_of) {
  for (const auto& node : nodes) {
    for (const auto& [resource, amount] : resources_of(node)) {
      double value = 0;
      if constexpr (std::is_same_v<std::decay_t<decltype(amount)>, double>) {
        value = amount;
      } else {
        value = amount.as_double();
      }
      text.sample(node.labels, "resource_type", resource_label(resource), value);
    }
  }
}

void write_utilization(Text& text, const std::vector<NodeText>& nodes) {
  std::map<std::string_view, std::pair<double, double>> totals;  // allocatable, requested
  for (const auto& node : nodes) {
    for (const auto& [resource, amount] : node.record->node->allocatable) {
      totals[resource].first += amount.as_double();
    }
    for (const auto& [resource, amount] : node.record->pod_requests) {
      totals[resource].second += amount.as_double();
    }
  }
  text.gauge("karpenter_cluster_utilization_percent",
             "What pods request of what all nodes together offer.");
  for (const auto& [resource, total] : totals) {
    if (total.first > 0) {
      text.sample(Labels().add("resource_type", resource_label(resource)),
                  100 * total.second / total.first);
    }
  }
}

model::ResourceList overhead_of(const model::Node& node) {
  model::ResourceList overhead = node.capacity;
  model::subtract_from(overhead, node.allocatable);
  return overhead;
}

}  // namespace

void write_nodes(Text& text, const PageInput& input) {
  const auto nodes = node_texts(input.snapshot);
  text.gauge("karpenter_nodes_allocatable", "What the node offers to pods.");
  write_family(text, nodes, [](const auto& node) -> const model::ResourceList& {
    return node.record->node->allocatable;
  });
  text.gauge("karpenter_nodes_total_pod_requests", "What the node's pods request.");
  write_family(text, nodes, [](const auto& node) -> const model::ResourceList& {
    return node.record->pod_requests;
  });
  text.gauge("karpenter_nodes_total_pod_limits", "What the node's pods have as limits.");
  write_family(text, nodes, [](const auto& node) -> const auto& { return node.limits.items(); });
  text.gauge("karpenter_nodes_total_daemon_requests", "What the node's DaemonSet pods request.");
  write_family(text, nodes, [](const auto& node) -> const model::ResourceList& {
    return node.record->daemon_requests;
  });
  text.gauge("karpenter_nodes_total_daemon_limits",
             "What the node's DaemonSet pods have as limits.");
  write_family(text, nodes,
               [](const auto& node) -> const auto& { return node.daemon_limits.items(); });
  text.gauge("karpenter_nodes_system_overhead",
             "What the node keeps for its system: capacity less allocatable.");
  write_family(text, nodes, [](const auto& node) { return overhead_of(*node.record->node); });
  text.gauge("karpenter_nodes_current_lifetime_seconds", "The node's age.");
  for (const auto& node : nodes) {
    const auto& created = node.record->node->meta.creation_timestamp;
    if (created) {
      text.sample(node.labels, seconds_since(*created, input.now));
    }
  }
  write_utilization(text, nodes);
}

}  // namespace millwright::telemetry
