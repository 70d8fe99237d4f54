// Pods that were bound to nodes where nothing is reserved for them, though room was reserved for
// all that their groups needed: what reservations are there to prevent.
#pragma once

#include "millwright/cluster/ledger.hpp"

#include <cstdint>
#include <span>

namespace millwright::cluster {

struct JustBound {
  const Ledger& ledger;    // knows what was needed when the scheduler chose a node
  const LedgerView& view;  // before it settles the arrivals
  std::span<const Ledger::Arrival> arrivals;
  const scheduling::Demand& before;
  const scheduling::Demand& after;
};

std::uint64_t count_elsewhere(const JustBound& bound);

}  // namespace millwright::cluster
