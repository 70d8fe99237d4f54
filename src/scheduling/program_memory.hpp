// What the linear program over fills came to for lots that were packed before. Orders of pods
// differ in which of them share a claim; taken apart again, the claims often leave the same lots,
// and the same program would find the same.
#pragma once

#include "scheduling/amounts.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
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
  std::uint32_t pool = 0;
  double kept_price = 0;  // of claims that stay as they are
  std::size_t kept = 0;
  std::vector<KnownLot> lots;
  auto operator<=>(const KnownLots&) const = default;
};

struct ProgramOutcome {
  std::size_t claims = 0;  // 0: it found none for less than the price
  double price = 0;
};

using ProgramMemory = std::map<KnownLots, ProgramOutcome>;

}  // namespace millwright::scheduling
