// Remembers what a dive came to for lots that were packed before. The planner packs the pods in
// several orders. Those differ in which pods share a claim, but claims taken apart often leave the
// same lots, and a dive for the same lots finds the same claims.
#pragma once

#include "scheduling/values/amounts.hpp"
#include "scheduling/values/ids.hpp"

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace millwright::scheduling {

struct KnownLot {
  Amounts requests;
  std::string market;  // requirements of a new claim
  double least = 0;    // see Lot
  std::size_t pods = 0;
  bool exclusive = false;
  auto operator<=>(const KnownLot&) const = default;
};

struct KnownLots {
  PoolId pool;
  double kept_price = 0;  // of the claims that stay as they are
  std::size_t kept = 0;   // how many those are
  std::vector<KnownLot> lots;
  auto operator<=>(const KnownLots&) const = default;
};

struct ProgramOutcome {
  std::size_t claims = 0;  // 0: it found no plan for less than `price`
  double price = 0;
};

using ProgramMemory = std::map<KnownLots, ProgramOutcome>;

}  // namespace millwright::scheduling
