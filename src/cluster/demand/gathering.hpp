// The demand of a snapshot: its pods that wait, those on nodes that go, and those that are still to
// come.
#pragma once

#include "cluster/demand/demand_table.hpp"
#include "cluster/demand/departures.hpp"
#include "cluster/demand/quota_table.hpp"
#include "cluster/demand/shortfalls.hpp"

namespace millwright::cluster {

// What is known of pods that do not exist.
struct StillToCome {
  const Shortfalls& shortfalls;
  const Departures& departures;
  const QuotaTable& quotas;
  const NamespaceUse& use;
};

// Another pod comes in the place of this one when it goes.
bool is_replaced(const model::Pod& pod);
// The node is going, or may be.
bool is_closing(const scheduling::NodeRecord& record);

scheduling::Demand gather_demand(DemandTable& table, const scheduling::Snapshot& snapshot,
                                 const StillToCome& still_to_come);

}  // namespace millwright::cluster
