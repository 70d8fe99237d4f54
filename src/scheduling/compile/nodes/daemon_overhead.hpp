// What DaemonSet pods will take from a node before anything else does (Karpenter's daemon
// overhead groups).
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/compile/pods/host_ports.hpp"
#include "scheduling/compile/pools/row_set.hpp"
#include "scheduling/compile/pools/type_table.hpp"
#include "scheduling/values/amounts.hpp"

#include <span>
#include <string>
#include <vector>

namespace millwright::scheduling {

// One DaemonSet's pod as it will look on a new node.
struct DaemonPod {
  std::string name;  // "namespace/name" of the DaemonSet
  model::ResourceList requests;
  std::vector<model::Toleration> tolerations;
  // Node requirements; any of them will do.
  std::vector<Requirements> alternatives;
  HostPorts ports;
  friend bool operator==(const DaemonPod&, const DaemonPod&) = default;
};

// Requests come from the newest live pod of each DaemonSet (admission may have changed it), its
// node affinity from the template, since the controller pins each live pod to a node. Without a
// live pod, limits stand in for absent requests. DaemonSets that need resource claims are left out.
std::vector<DaemonPod> daemon_pods(const Problem& problem);

// PreferNoSchedule never keeps a daemon away.
bool daemon_tolerates(const DaemonPod& daemon, std::span<const model::Taint> taints);

// Types on which exactly the same DaemonSets run.
struct DaemonGroup {
  RowSet rows;
  model::ResourceList requests;
  HostPorts ports;
};

// `requirements` and `taints` are those of the NodePool's template. The groups cover every row.
std::vector<DaemonGroup> daemon_groups(std::span<const DaemonPod> daemons, const TypeTable& table,
                                       const Requirements& requirements,
                                       std::span<const model::Taint> taints);

}  // namespace millwright::scheduling
