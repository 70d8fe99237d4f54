// A claim in the making: pods that share a node which is still to be bought, and the instance types
// that can hold them.
#pragma once

#include "scheduling/claims/claim_shapes.hpp"
#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/topology/applicant.hpp"
#include "scheduling/topology/host_tally.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace millwright::scheduling {

struct ClaimDraft {
  PoolId pool;
  ShapeId shape;
  RowSet rows;                            // instance types that can hold it
  RowSet charged;                         // those its pool's limits were charged for
  Amounts requests;                       // of its pods
  HostPorts ports;                        // of its pods
  std::vector<std::uint32_t> shared;      // volumes that pods share, by number; sorted
  std::vector<PodId> pods;                // in order of arrival
  std::vector<std::uint16_t> rungs;       // on which rung of its ladder each of them came
  std::optional<std::uint32_t> reserved;  // the offering kind it has a reservation in
  double price_level = 0;                 // when it was opened; see PriceLevels
  bool min_values_relaxed = false;
  bool full = false;  // not even the smallest pod of the problem would fit

  // Empty when the problem has no topology.
  std::vector<Narrowed> narrowings;       // by pod: the domains chosen for it
  std::vector<TopologyGroupId> floating;  // groups that count its pods once a domain is chosen
  HostTally tally;
  bool keeps_together = false;  // some pod must share a node with another
};

// What the claim's pods and the applicant ask for together. A volume that the applicant shares with
// one of them counts once.
void add_requests(Amounts& total, const ClaimDraft& claim, const Applicant& applicant);

// The claim's i-th pod as it came.
Applicant member_of(const ClaimDraft& claim, std::size_t i, const PodClasses& pods);
// Enters what the applicant, one of the claim's pods, is to groups by hostname.
void add_to_tally(ClaimDraft& claim, const Applicant& applicant,
                  const ById<TopologyGroupId, TopologyGroup>& groups);

// The row of a claim that costs least, and that price.
struct CheapestRow {
  std::size_t row = 0;
  double price = 0;
};

// Ties go to the type's name.
std::optional<CheapestRow> cheapest_row(const PoolTemplate& pool, const ClaimShape& shape,
                                        const ClaimDraft& claim);
// The least price of one row among the offerings open to the claim; infinity when there is none.
double row_price(const PoolTemplate& pool, const ClaimShape& shape, const ClaimDraft& claim,
                 std::size_t row);

}  // namespace millwright::scheduling
