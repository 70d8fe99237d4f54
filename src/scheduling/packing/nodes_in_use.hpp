// Existing nodes as they fill up: what is left on each, and who may still go there.
#pragma once

#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/topology/applicant.hpp"
#include "scheduling/topology/host_tally.hpp"
#include "scheduling/topology/topology_counts.hpp"
#include "scheduling/values/ids.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millwright::scheduling {

struct NodeUse {
  Amounts room;         // that is left
  HostPorts ports;      // taken
  VolumeSlots volumes;  // taken
  HostTally hosts;      // its pods, for groups by hostname
};

class NodesInUse {
 public:
  NodesInUse(const CompiledProblem& compiled, TopologyCounts& counts);

  // After the last.
  NodeId end_id() const { return uses_.end_id(); }
  const NodeUse& operator[](NodeId node) const { return uses_[node]; }
  bool has_room(NodeId node, const Applicant& applicant) const {
    return fits(applicant.pod_class.requests, uses_[node].room);
  }
  // Whether the pod may go there, room apart.
  bool admits(NodeId node, const Applicant& applicant, PodId pod);
  // The pod takes its room there and counts.
  void add(NodeId node, const Applicant& applicant, PodId pod);

  // Back to where the census was: no pod of the problem counts on any node.
  void reset_counts();
  // A pod with the constraint counts on the node, and no more.
  void count(NodeId node, const Constraint& constraint);
  void uncount(NodeId node, const Constraint& constraint);
  // Back to what operator[] told before.
  void restore(NodeId node, NodeUse use) { uses_[node] = std::move(use); }

 private:
  const std::vector<AttachedVolume>& volumes_of(PodId pod) const {
    return pods_.volumes[pods_.pods[pod].volumes];
  }
  // Taints and node requirements, worked out once.
  bool meets_rung(NodeId node, const Applicant& applicant);
  // As far as topology is concerned.
  bool is_open(NodeId node, const Applicant& applicant) const;
  // Which counts a pod with the constraint belongs to while it is on the node: those that select
  // it, and those of the anti-affinity that it requires. Calls each with (group, domain), and
  // kNoDomain where the node itself is the domain.
  template <class Selected, class Owned>
  void for_each_count(NodeId node, const Constraint& constraint, Selected selected, Owned owned);
  // Whether the group's node filter counts pods on the node.
  bool counts_for(NodeId node, TopologyGroupId group);

  const PodClasses& pods_;
  const ExistingNodes& nodes_;
  const Topology& topology_;
  TopologyCounts& counts_;
  ById<NodeId, NodeUse> uses_;
  // By constraint, rung, node: 1 it does, 0 it does not, negative: not known.
  std::vector<std::vector<ById<NodeId, std::int8_t>>> meets_rung_;
  std::unordered_map<std::uint64_t, bool> counts_for_;  // by node and group
};

}  // namespace millwright::scheduling
