// The pods of a problem, grouped: pods with equal constraints and requests form a class and are
// decided alike. Everything that does not depend on nodes or pools is worked out here, once per
// class.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/compile/nodes/daemon_overhead.hpp"
#include "scheduling/compile/pods/host_ports.hpp"
#include "scheduling/compile/pods/relaxation.hpp"
#include "scheduling/compile/pods/volume_columns.hpp"
#include "scheduling/compile/pods/volumes.hpp"
#include "scheduling/compile/topology/topology_groups.hpp"
#include "scheduling/values/amounts.hpp"
#include "scheduling/values/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millwright::scheduling {

// A volume that several pods of the problem use: it counts once on a machine.
struct SharedVolume {
  std::uint32_t id = 0;
  std::string driver;
  std::size_t column = 0;
};

// Where a pod may go, apart from how much room it needs.
struct Constraint {
  std::vector<Rung> ladder;  // not empty unless refused
  std::vector<model::Toleration> tolerations;
  HostPorts ports;
  VolumeCounts volumes;              // nobody else's, of drivers with a limit
  std::vector<SharedVolume> shared;  // of drivers with a limit
  std::string refusal;               // cannot be planned, whatever the nodes and pools
  std::string remedy;

  // What its pods are to topology groups.
  std::vector<TopologyGroupId> counted;    // groups whose counts they raise
  std::vector<TopologyGroupId> repelling;  // anti-affinity groups whose owners keep them away
  std::vector<TopologyGroupId> carried;    // anti-affinity groups that they own
  std::vector<KeyId> keys;                 // topology keys that any of it concerns

  bool counts_for(TopologyGroupId group) const;
  // Other pods matter to where these may go, or the other way round.
  bool has_topology() const { return !counted.empty() || !repelling.empty() || held; }
  bool held = false;  // some rung has groups
};

struct PodClass {
  std::uint32_t constraint = 0;
  model::ResourceList request_list;
  Amounts requests;  // volumes that are its pods' own included
  Amounts alone;     // with shared volumes too; empty when they share none

  // What the first pod of a machine asks for.
  const Amounts& first() const { return alone.empty() ? requests : alone; }
};

struct PlannedPod {
  const model::Pod* pod = nullptr;
  std::uint32_t pod_class = 0;
  std::uint32_t volumes = 0;  // index into PodClasses::volumes
};

struct PodClasses {
  Columns columns;
  std::vector<VolumeColumn> volume_columns;  // empty where no pod has volumes with a limit
  std::vector<Constraint> constraints;
  std::vector<PodClass> classes;
  // In the order they are placed: CPU descending, memory descending, oldest first, uid.
  ById<PodId, PlannedPod> pods;
  std::uint32_t rung_count = 0;
  bool soft_taints = false;  // some NodePool or node has a PreferNoSchedule taint
  // What drivers would attach for a pod. The first entry is "nothing".
  std::vector<std::vector<AttachedVolume>> volumes{{}};
  // Null when no pod has a say in where another may go.
  std::shared_ptr<TopologyGroups> topology;

  const PodClass& class_of(PodId pod) const { return classes[pods[pod].pod_class]; }
  const Constraint& constraint_of(PodId pod) const { return constraints[class_of(pod).constraint]; }
};

bool is_soft(const model::Taint& taint);  // PreferNoSchedule

PodClasses classify(const Problem& problem, const std::vector<DaemonPod>& daemons);

}  // namespace millwright::scheduling
