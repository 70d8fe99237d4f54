// Capacity that exists or is on its way, as the planner counts on it: nodes, launched claims
// without a node, and claims that are still to be launched.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/launch_options.hpp"
#include "scheduling/pod_classes.hpp"
#include "scheduling/pool_template.hpp"

#include <cstdint>
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
  bool promised = false;    // some of the room is held for pods that are not in the problem

  // Taints and node requirements.
  bool admits(const Constraint& constraint, const Rung& rung) const;
  bool meets(const Requirements& wanted) const;
  // A spread constraint with this filter counts the node's pods.
  bool counts_for(const NodeFilter& filter) const;
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
  const std::vector<ExistingNode>& nodes() const { return nodes_; }
  // Pods of the problem with a hold: (index into PodClasses::pods, index of the node), by pod.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& promises() const { return promises_; }
  std::vector<ExistingNode> release() && { return std::move(nodes_); }

  // For PlanningSession, which changes nodes one at a time. Not for nodes that are still to be
  // launched, nor where volumes matter. `holds`: those on the node whose pods are not to be placed.
  void replace(std::uint32_t index, NodeRecordPtr record, std::span<const DaemonPod> daemons,
               std::span<const Hold* const> holds);
  // At the end, wherever its name belongs.
  void append(NodeRecordPtr record, std::span<const DaemonPod> daemons,
              std::span<const Hold* const> holds);
  // It takes no pods any more.
  void close(std::uint32_t index);

 private:
  void set_room(ExistingNode& node, std::span<const PoolTemplate> pools,
                std::span<const DaemonPod> daemons) const;
  ExistingNode compile(NodeRecordPtr record, std::span<const PoolTemplate> pools,
                       std::span<const DaemonPod> daemons) const;
  void keep_for(ExistingNode& node, const Hold& hold) const;
  void take_ports(ExistingNode& node) const;
  void take_volumes(const Snapshot& surroundings);
  void apply_holds(const Problem& problem);

  const PodClasses& pods_;
  bool ports_matter_ = false;
  std::vector<ExistingNode> nodes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> promises_;
};

// The first taint that keeps the pod away on this rung; nullptr when none does.
const model::Taint* blocking_taint(std::span<const model::Taint> taints,
                                   const Constraint& constraint, const Rung& rung);

}  // namespace millwright::scheduling
