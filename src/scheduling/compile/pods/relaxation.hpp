// The ladder a pod climbs down when it fits nowhere: Karpenter's relaxation order over node
// affinity, preferred pod affinity and anti-affinity, ScheduleAnyway and PreferNoSchedule.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/compile/pods/unsupported.hpp"
#include "scheduling/compile/topology/topology_groups.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace millwright::scheduling {

// One attempt: what the pod asks of a node on it.
struct Rung {
  std::uint32_t id = 0;  // the same requirements, anywhere in the problem, have the same id
  Requirements requirements;
  bool tolerates_preferences = false;  // PreferNoSchedule taints no longer keep the pod away
  // Rungs of one step differ in what volumes need and are equally good.
  std::uint32_t step = 0;
  std::vector<TopologyGroupId> groups;  // topology groups it is held to

  // The groups by their key, and those whose domains are the nodes.
  struct Keyed {
    KeyId key;
    std::vector<TopologyGroupId> groups;
  };
  std::vector<Keyed> keyed;
  std::vector<TopologyGroupId> on_host;
};

struct LadderInput {
  const model::PodSpec& spec;
  PreferencePolicy preferences = PreferencePolicy::Respect;
  // Added to every rung, never relaxed: what volumes need (any of them; empty: nothing).
  std::span<const Requirements> volume_alternatives;
  const PodTopology& topology;
  // Some NodePool or node has a PreferNoSchedule taint.
  bool has_soft_taints = false;
};

// In order of trial. Empty when every choice contradicts itself; `conflict` then says why.
//
// Karpenter never returns to a required term that it dropped before it came to drop preferences.
// Those are tried at the very end here, so that no pod is refused that some term would admit.
std::vector<Rung> relaxation_ladder(const LadderInput& input, Unsupported& conflict);

}  // namespace millwright::scheduling
