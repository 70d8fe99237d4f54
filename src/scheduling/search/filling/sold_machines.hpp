// The machines on sale as the search for cheaper claims sees them.
#pragma once

#include "scheduling/claims/claim_shapes.hpp"
#include "scheduling/search/lots/pod_lots.hpp"

#include <cstddef>
#include <vector>

namespace millwright::scheduling {

// An instance type as it is sold in one place. Of those that differ only in price, the cheapest.
struct SoldMachine {
  std::size_t row = 0;
  double price = 0;
  const Amounts* room = nullptr;
  std::vector<LotId> users;  // lots that it admits and has room for, sorted
};

// The machines of the pool that the lots can use. Leaves out a machine when another one admits the
// same lots, has as much room and costs no more.
std::vector<SoldMachine> machines_for(const PodLots& lots, const PoolTemplate& pool,
                                      const ClaimShapes& shapes);

}  // namespace millwright::scheduling
