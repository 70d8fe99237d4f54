// Capacity that exists or is on its way, as the planner counts on it: nodes, launched claims
// without a node, and claims that are still to be launched.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/compile/nodes/launch_options.hpp"
#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/pools/pool_template.hpp"
#include "scheduling/values/ids.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::scheduling {

struct ExistingNode {
  NodeRecordPtr record;
  std::vector<model::Taint> taints;
  bool unlaunched = false;
  Requirements guaranteed;  // of an unlaunched claim; otherwise the labels are what they are
  Amounts room;             // left for pods of the problem
  HostPorts ports;          // taken, known only when some pod of the problem wants one
  VolumeSlots volumes;      // likewise
  bool promised = false;    // some of the room is kept for pods that are not in the problem

  // Taints and node requirements.
  bool admits(const Constraint& constraint, const Rung& rung) const;
  bool meets(const Requirements& wanted) const;
  // A spread constraint with this filter counts the node's pods.
  bool counts_for(const NodeFilter& filter) const;
  // The same of a claim that is still to be launched, if it may become such a node.
  bool may_count_for(const NodeFilter& filter) const;
};

// Nodes as compiled for an earlier problem, for those whose record is the same object, if columns
// and DaemonSets are equal.
struct NodeMemory {
  Columns columns;
  std::vector<DaemonPod> daemons;
  std::vector<ExistingNode> nodes;  // in their order
};

class ExistingNodes {
 public:
  // Takes what it can from `memory`.
  ExistingNodes(const Problem& problem, const PodClasses& pods, std::span<const PoolTemplate> pools,
                std::span<const DaemonPod> daemons, NodeMemory memory = {});

  // In the order they are tried: initialised ones first, then by name.
  const ById<NodeId, ExistingNode>& nodes() const { return nodes_; }
  // Pods of the problem that are promised a node, and the node.
  const std::vector<std::pair<PodId, NodeId>>& promises() const { return promises_; }
  std::vector<ExistingNode> release() && { return std::move(nodes_); }

 private:
  void set_room(ExistingNode& node, std::span<const PoolTemplate> pools,
                std::span<const DaemonPod> daemons) const;
  ExistingNode compile(NodeRecordPtr record, std::span<const PoolTemplate> pools,
                       std::span<const DaemonPod> daemons) const;
  void take_ports();
  void take_volumes(const Snapshot& cluster, std::span<const PoolTemplate> pools);
  void expect_limits(ExistingNode& node, std::span<const PoolTemplate> pools) const;
  void apply_kept_room(const Problem& problem);

  const PodClasses& pods_;
  ById<NodeId, ExistingNode> nodes_;
  std::vector<std::pair<PodId, NodeId>> promises_;
};

// The first taint that keeps the pod away on this rung; nullptr when none does.
const model::Taint* blocking_taint(std::span<const model::Taint> taints,
                                   const Constraint& constraint, const Rung& rung);

}  // namespace millwright::scheduling
