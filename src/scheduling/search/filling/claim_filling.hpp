// Puts pods of lots on claims in the making, one after another. Whatever order the pods come in, no
// rule about sharing a node is broken and no pod is counted in another domain than before.
#pragma once

#include "scheduling/search/filling/fill.hpp"
#include "scheduling/search/lots/pod_lots.hpp"
#include "scheduling/search/pool_search.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace millwright::scheduling {

// A claim that is being filled, as the machine that it is meant to be.
struct Bin {
  ClaimDraft claim;
  CheapestRow machine;
  Amounts left;
  std::vector<TopologyGroupId> spreading{};  // groups by hostname that some pod spreads over
  std::vector<LotId> lots{};                 // of the pods, one entry for each pod added
};

class ClaimFilling {
 public:
  explicit ClaimFilling(const PoolSearch& search) : search_(search) {}

  // A claim with one pod of the lot. None when it would take a reservation, or when the pod would
  // be counted elsewhere than before.
  std::optional<Bin> begin(PodLots& lots, LotId lot, CheapestRow machine) const;
  // Goes on with a claim that has pods, on its cheapest machine.
  Bin resume(ClaimDraft claim, CheapestRow cheapest) const;
  // Adds a pod of the lot. Returns false when none may join; the bin is then as it was.
  bool add(PodLots& lots, LotId lot, Bin& bin) const;
  // Adds a claim for the fill, with the pods that are left of it and may join. Returns false when
  // not even the first of them has a claim.
  bool build(PodLots& lots, const Fill& fill, std::vector<ClaimDraft>& result) const;
  // The shape of a claim after a pod of the lot joins. ShapeId::none() when that is not allowed
  // or the machine would cost more then.
  ShapeId joined_shape(ShapeId shape, const PodLots& lots, LotId lot, CheapestRow machine) const;

 private:
  bool counts_as_before(const LotItem& item, const Bin& bin) const;
  bool hosts_admit(const Bin& bin, const Applicant& applicant) const;
  void note_spreading(Bin& bin, const Applicant& applicant) const;

  PoolSearch search_;
};

}  // namespace millwright::scheduling
