// kube-scheduler's in-tree filters, with the reasons it gives. Pure.
#pragma once

#include "sandbox/scheduler/cache.hpp"

#include <string>
#include <vector>

namespace millwright::sandbox {

// nodeSelector and required node affinity.
bool matches_node(const model::Pod& pod, const model::Node& node);

// Why the pod cannot go to the node ("Insufficient cpu", "node(s) had untolerated taint {...}");
// empty when it can. Covers NodeName, NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts
// and NodeResourcesFit.
std::vector<std::string> node_reasons(const model::Pod& pod, const NodeInfo& node);

// The part of those reasons that no eviction could change.
std::vector<std::string> fixed_reasons(const model::Pod& pod, const model::Node& node);

// PodTopologySpread (DoNotSchedule) and InterPodAffinity (required), which look at all nodes: made
// once per scheduling cycle.
class TopologyFilter {
 public:
  TopologyFilter(const model::Pod& pod, const std::vector<const NodeInfo*>& nodes);
  ~TopologyFilter();
  TopologyFilter(const TopologyFilter&) = delete;
  TopologyFilter& operator=(const TopologyFilter&) = delete;
  std::vector<std::string> reasons(const NodeInfo& node) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::sandbox
