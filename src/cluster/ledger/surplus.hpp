// What is reserved beyond what groups need, and where it is missed least.
#pragma once

#include "millwright/cluster/ledger.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace millwright::cluster {

struct Lowering {
  scheduling::GroupId group;
  std::string target;
  std::int32_t by = 0;
};

struct SurplusQuestion {
  const LedgerView& ledger;
  const Ledger& attempts;  // asked which pods are on their way
  base::TimePoint now;
  std::span<const Ledger::Arrival> arrivals;  // the ledger is about to settle these
  const scheduling::Snapshot& snapshot;       // that shows them
  // When the ledger held no surplus and did not change since: only groups that need less than then
  // can have one. Else nullptr.
  const scheduling::Demand* before = nullptr;
};

// What to lower once the arrivals are settled.
std::vector<Lowering> find_surplus(const SurplusQuestion& question);

}  // namespace millwright::cluster
