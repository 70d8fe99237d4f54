#include "app/top/cluster_view.hpp"

#include "millwright/telemetry/node_costs.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace millwright::app {
namespace {

using telemetry::DecisionKind;

std::string state_of(const scheduling::NodeRecord& record) {
  const bool is_deleting = (record.node && record.node->meta.is_deleting()) ||
                           (record.claim && record.claim->meta.is_deleting());
  if (is_deleting) {
    return "Draining";
  }
  if (!record.node) {
    return std::string(kComing);
  }
  if (record.fenced || record.marked_for_deletion) {
    return std::string(kFenced);
  }
  if (!record.registered() || !record.initialized()) {
    return "Starting";
  }
  return model::is_ready(*record.node) ? "Ready" : "NotReady";
}

std::string label_of(const scheduling::NodeRecord& record, std::string_view key) {
  const auto found = record.labels().find(key);
  return found == record.labels().end() ? std::string() : std::string(found->second);
}

std::optional<base::Duration> age_of(const scheduling::NodeRecord& record, base::TimePoint now) {
  const auto& meta = record.node ? record.node->meta : record.claim->meta;
  return meta.creation_timestamp ? std::optional(now - *meta.creation_timestamp) : std::nullopt;
}

NodeRow row_of(const scheduling::NodeRecord& record, base::TimePoint now) {
  const auto allocatable = record.allocatable();
  const auto amount = [](const model::ResourceList& list, std::string_view resource) {
    return model::get(list, resource).as_double();
  };
  NodeRow row;
  row.name = record.name();
  row.node_pool = record.node_pool();
  row.instance_type = label_of(record, model::kInstanceTypeLabel);
  row.zone = label_of(record, model::kZoneLabel);
  row.capacity_type = label_of(record, model::kCapacityTypeLabel);
  row.state = state_of(record);
  row.cpu = amount(allocatable, model::kCpu);
  row.cpu_requested = amount(record.pod_requests, model::kCpu);
  row.memory = amount(allocatable, model::kMemory);
  row.memory_requested = amount(record.pod_requests, model::kMemory);
  row.pods = record.pods.size();
  row.age = age_of(record, now);
  return row;
}

void add_nodes(ClusterView& view, const ViewParts& parts) {
  std::map<std::string_view, std::size_t> kept;
  for (const auto& reservation : parts.snapshot.reservations) {
    kept[reservation.target] += static_cast<std::size_t>(std::max(reservation.count, 0));
  }
  telemetry::NodeCosts costs(parts.catalog);
  for (const auto& record : parts.snapshot.nodes) {
    NodeRow row = row_of(*record, parts.now);
    const auto found = kept.find(record->name());
    row.kept = found == kept.end() ? 0 : found->second;
    row.price = costs.price_of(*record);
    view.nodes.push_back(std::move(row));
  }
}

// What was decided last about where each pod goes, by namespace/name.
std::map<std::string, std::string> last_words(const Decisions& decisions) {
  std::map<std::string, std::string> words;
  for (const auto& decision : decisions) {
    if (decision->kind == DecisionKind::Refusal) {
      for (const auto& pod : decision->about) {
        words[pod.namespace_ + "/" + pod.name] = decision->message;
      }
    } else if (decision->kind == DecisionKind::Purchase && !decision->about.empty()) {
      for (const auto& pod : decision->pods) {
        words[pod] = "room was bought: NodeClaim " + decision->about.front().name;
      }
    } else {
      for (const auto& [pod, target] : decision->targets) {
        words[pod] = "has room on " + target;
      }
    }
  }
  return words;
}

std::string why_of(const model::Pod& pod, const std::map<std::string, std::string>& words) {
  if (!pod.spec.scheduling_gates.empty()) {
    return "held by its scheduling gate " + pod.spec.scheduling_gates.front();
  }
  const auto found = words.find(model::key_of(pod.meta).to_string());
  return found == words.end() ? "nothing is decided about it yet" : found->second;
}

void add_waiting(ClusterView& view, const ViewParts& parts) {
  const auto words = last_words(parts.decisions);
  std::map<std::pair<std::string, std::string>, WaitingRow> rows;  // by workload and reason
  for (const auto& pod : parts.snapshot.pending_pods) {
    const auto* workload = pod->meta.controller();
    const std::string why = why_of(*pod, words);
    auto& row = rows[{workload != nullptr ? workload->uid : pod->meta.uid, why}];
    if (row.pods++ == 0) {
      row.pod = model::key_of(pod->meta).to_string();
      row.why = why;
    }
    row.since = std::max(row.since, parts.now - pod->meta.creation_timestamp.value_or(parts.now));
  }
  view.pods_waiting = parts.snapshot.pending_pods.size();
  for (auto& [key, row] : rows) {
    view.waiting.push_back(std::move(row));
  }
  std::sort(view.waiting.begin(), view.waiting.end(), [](const auto& a, const auto& b) {
    return std::tie(b.since, a.pod) < std::tie(a.since, b.pod);
  });
  view.waiting.resize(std::min(view.waiting.size(), kMostWaiting));
}

// What a row sorts by before its name; the least first.
using SortKey = std::tuple<double, std::string>;
using KeyOf = SortKey (*)(const NodeRow&);

struct NamedOrder {
  std::string_view name;
  NodeOrder order;
  KeyOf key;
};

double fill(double requested, double capacity) {
  return capacity > 0 ? requested / capacity : 0;
}

SortKey largest(double amount) {
  return {-amount, {}};
}

const NamedOrder kOrders[] = {
    {"name", NodeOrder::Name, [](const NodeRow&) { return SortKey(); }},
    {"pool", NodeOrder::Pool, [](const NodeRow& row) { return SortKey(0, row.node_pool); }},
    {"state", NodeOrder::State, [](const NodeRow& row) { return SortKey(0, row.state); }},
    {"price", NodeOrder::Price, [](const NodeRow& row) { return largest(row.price.value_or(0)); }},
    {"cpu", NodeOrder::Cpu,
     [](const NodeRow& row) { return largest(fill(row.cpu_requested, row.cpu)); }},
    {"memory", NodeOrder::Memory,
     [](const NodeRow& row) { return largest(fill(row.memory_requested, row.memory)); }},
    {"pods", NodeOrder::Pods,
     [](const NodeRow& row) { return largest(static_cast<double>(row.pods)); }},
    {"kept", NodeOrder::Kept,
     [](const NodeRow& row) { return largest(static_cast<double>(row.kept)); }},
    {"age", NodeOrder::Age,
     [](const NodeRow& row) {
       return largest(std::chrono::duration<double>(row.age.value_or(base::Duration{})).count());
     }},
};

}  // namespace

ClusterView view_of(const ViewParts& parts) {
  ClusterView view;
  view.time = parts.now;
  for (const auto& pool : parts.snapshot.node_pools) {
    view.node_pools.push_back(pool->meta.name);
  }
  std::sort(view.node_pools.begin(), view.node_pools.end());
  add_nodes(view, parts);
  add_waiting(view, parts);
  return view;
}

base::Result<NodeOrder> parse_node_order(std::string_view text) {
  std::string names;
  for (const auto& named : kOrders) {
    if (named.name == text) {
      return named.order;
    }
    names.append(names.empty() ? "" : ", ").append(named.name);
  }
  return base::fail(base::ErrorKind::Invalid,
                    "--sort must be one of " + names + ", not \"" + std::string(text) + "\"");
}

ClusterView chosen(ClusterView view, const Choice& choice) {
  if (!choice.node_pool.empty()) {
    std::erase_if(view.nodes, [&](const auto& row) { return row.node_pool != choice.node_pool; });
    std::erase_if(view.node_pools, [&](const auto& name) { return name != choice.node_pool; });
  }
  const auto key = std::find_if(std::begin(kOrders), std::end(kOrders), [&](const auto& named) {
                     return named.order == choice.order;
                   })->key;
  std::sort(view.nodes.begin(), view.nodes.end(), [&](const NodeRow& a, const NodeRow& b) {
    return std::pair(key(a), a.name) < std::pair(key(b), b.name);
  });
  return view;
}

}  // namespace millwright::app
