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

  // Taints and node requirements.
  bool admits(const Constraint& constraint, const Rung& rung) const;
  bool meets(const Requirements& wanted) const;
  // A spread constraint with this filter counts the node's pods.
  bool counts_for(const NodeFilter& filter) const;
};

class ExistingNodes {
 public:
  ExistingNodes(const Problem& problem, const PodClasses& pods, std::span<const PoolTemplate> pools,
                std::span<const DaemonPod> daemons);

  // In the order they are tried: initialised ones first, then by name.
  const std::vector<ExistingNode>& nodes() const { return nodes_; }
  // Pods of the problem with a hold: (index into PodClasses::pods, index of the node), by pod.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& promises() const { return promises_; }

 private:
  void set_room(ExistingNode& node, std::span<const PoolTemplate> pools,
                std::span<const DaemonPod> daemons);
  void take_ports();
  void take_volumes(const Snapshot& surroundings);
  void apply_holds(const Problem& problem);

  const PodClasses& pods_;
  std::vector<ExistingNode> nodes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> promises_;
};

// The first taint that keeps the pod away on this rung; nullptr when none does.
const model::Taint* blocking_taint(std::span<const model::Taint> taints,
                                   const Constraint& constraint, const Rung& rung);

}  // namespace millwright::scheduling
