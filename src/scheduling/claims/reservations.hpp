// Reserved capacity while planning: each claim that counts on a reservation takes one instance of
// it, so that no plan promises a reservation twice.
#pragma once

#include "scheduling/compile/pools/pool_template.hpp"

#include <map>
#include <span>
#include <string>

namespace millwright::scheduling {

class Reservations {
 public:
  // Capacity is the least that any pool's offerings state; claims still to be launched that name
  // a reservation count as using it.
  Reservations(std::span<const PoolTemplate> pools, const Problem& problem);

  bool available(const OfferingKind& kind) const;
  void take(const OfferingKind& kind);

 private:
  std::map<std::string, int, std::less<>> left_;
};

}  // namespace millwright::scheduling
