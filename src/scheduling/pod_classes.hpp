// The pods of a problem, grouped: pods with equal constraints and requests form a class and are
// decided alike. Everything that does not depend on nodes or pools is worked out here, once per
// class.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/amounts.hpp"
#include "scheduling/daemon_overhead.hpp"
#include "scheduling/host_ports.hpp"
#include "scheduling/relaxation.hpp"
#include "scheduling/volumes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::scheduling {

// Where a pod may go, apart from how much room it needs.
struct Constraint {
  std::vector<Rung> ladder;  // not empty unless refused
  std::vector<model::Toleration> tolerations;
  HostPorts ports;
  std::string refusal;  // cannot be planned, whatever the nodes and pools
  std::string remedy;
};

struct PodClass {
  std::uint32_t constraint = 0;
  model::ResourceList request_list;
  Amounts requests;
};

struct PlannedPod {
  const model::Pod* pod = nullptr;
  std::uint32_t pod_class = 0;
  std::uint32_t volumes = 0;  // index into PodClasses::volumes
};

struct PodClasses {
  Columns columns;
  std::vector<Constraint> constraints;
  std::vector<PodClass> classes;
  // In the order they are placed: CPU descending, memory descending, oldest first, uid.
  std::vector<PlannedPod> pods;
  std::uint32_t rung_count = 0;
  // What drivers would attach for a pod. The first entry is "nothing".
  std::vector<std::vector<AttachedVolume>> volumes{{}};
};

PodClasses classify(const Problem& problem, const std::vector<DaemonPod>& daemons);

}  // namespace millwright::scheduling
