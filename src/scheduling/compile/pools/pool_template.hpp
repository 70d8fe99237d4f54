// A NodePool compiled for planning: what its nodes will be like, which instance types can be them
// and how much of each is left once DaemonSets have taken theirs.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/compile/nodes/daemon_overhead.hpp"
#include "scheduling/compile/nodes/node_room_table.hpp"
#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/pools/type_table.hpp"
#include "scheduling/values/ids.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace millwright::scheduling {

struct PoolTemplate {
  std::shared_ptr<const model::NodePool> pool;
  std::shared_ptr<const TypeTable> table;
  // Of the pool and its labels; with what holds for every new node (registered, initialised, a
  // hostname nobody can know), which is taken out again before a claim is written.
  Requirements requirements;
  model::StringMap labels;  // template labels, NodePool and NodeClass
  std::vector<model::Taint> taints;
  std::vector<DaemonGroup> daemon_groups;
  RoomTable room;       // allocatable less DaemonSets, by row
  RowSet rows;          // those that can be a node of this pool at all
  std::string problem;  // why there is none
  MinValuesPolicy min_values = MinValuesPolicy::Strict;
  double max_price_ratio = 0;  // PoolOption's

  const std::string& name() const { return pool->meta.name; }
};

// Requirement keys that exist only while planning.
bool is_simulated_key(std::string_view key);

// Templates of an earlier problem. One serves again if its NodePool and its list of instance types
// are the same objects (or the NodePool of the same generation: only its status is new), columns
// and DaemonSets are equal, a node costs the same, and nothing else was learned about attach
// limits; its table of types, if the list and a node's cost are the same. Objects are known by
// their address, which cannot be another's as long as the templates keep them.
struct PoolMemory {
  Columns columns;
  std::vector<DaemonPod> daemons;
  std::shared_ptr<const VolumeLimits> volume_limits;
  std::vector<PoolTemplate> pools;
};

// Those that may grow, by weight descending, then name descending (Karpenter's order). Pools that
// are deleting, not Ready or of fixed size are left out. Takes what it can from `memory`.
ById<PoolId, PoolTemplate> pool_templates(const Problem& problem, const Columns& columns,
                                          std::span<const DaemonPod> daemons,
                                          PoolMemory memory = {});

}  // namespace millwright::scheduling
