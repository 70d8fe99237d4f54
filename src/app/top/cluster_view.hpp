// What a cluster has, costs and waits for, as `millwright top` shows it: out of a snapshot, the
// catalog's prices and the record of decisions. Pure. The asking port gives it as JSON.
#pragma once

#include "app/asking/answer.hpp"
#include "app/tables/node_table.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

// Pods of one workload that wait for the same reason.
struct WaitingRow {
  std::string pod;  // one of them, namespace/name
  std::size_t pods = 0;
  base::Duration since{};  // that the oldest was created
  std::string why;
};

struct ClusterView {
  base::TimePoint time{};
  std::vector<std::string> node_pools;  // also those without nodes; sorted
  std::vector<NodeRow> nodes;           // NodeClaims that have no Node yet among them
  std::size_t pods_waiting = 0;
  std::vector<WaitingRow> waiting;  // longest first, kMostWaiting at most
};
inline constexpr std::size_t kMostWaiting = 200;

// Where the asking port gives to_json() of it.
inline constexpr std::string_view kClusterPath = "/cluster";

// States of a NodeRow beside Ready, NotReady, Starting and Draining.
inline constexpr std::string_view kComing = "Coming";  // bought, and no Node yet
inline constexpr std::string_view kFenced = "Fenced";  // chosen for removal: it takes no pods

struct ViewParts {
  const scheduling::Snapshot& snapshot;
  const scheduling::Catalog& catalog;
  Decisions decisions;  // in the order they were made
  base::TimePoint now;
};
ClusterView view_of(const ViewParts& parts);

enum class NodeOrder { Name, Pool, State, Price, Cpu, Memory, Pods, Kept, Age };
// "name", "pool", ...; amounts sort from the largest, and equal ones by name.
base::Result<NodeOrder> parse_node_order(std::string_view text);

struct Choice {
  NodeOrder order = NodeOrder::Name;
  std::string node_pool;  // only this one; empty: all
};
// Waiting pods are kept: which NodePool they will get is not decided.
ClusterView chosen(ClusterView view, const Choice& choice);

// A summary, the NodePools, the nodes, and the pods that wait; no line is wider than `width`.
std::string to_text(const ClusterView& view, std::size_t width = TableLayout::kUnlimited);
std::string to_json(const ClusterView& view);
// Of what to_json() gives.
base::Result<ClusterView> parse_cluster_view(std::string_view json);

}  // namespace millwright::app
