// Packs pods claim by claim instead of pod by pod:
//
//     for the dearest pod that waits:
//         for each machine that is a good buy:  fill it, in mind, with pods that suit it
//         buy the one whose price is least for what its pods are worth
//
// What pods are worth are the dual prices of the fractional problem (resource_prices.hpp).
#pragma once

#include "scheduling/search/filling/claim_filling.hpp"
#include "scheduling/search/filling/fill.hpp"
#include "scheduling/search/filling/machine_choice.hpp"
#include "scheduling/search/lots/attractions.hpp"
#include "scheduling/search/lots/lot_scan.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace millwright::scheduling {

// Lots looked at in all passes together: a pass that does more is given up.
inline constexpr std::size_t kMaxGreedyWork = 1'200'000'000;

class GreedyPacking {
 public:
  explicit GreedyPacking(const PoolSearch& search, std::size_t most_work = kMaxGreedyWork)
      : search_(search), filling_(search), most_work_(most_work) {}
  GreedyPacking(const GreedyPacking&) = delete;
  GreedyPacking& operator=(const GreedyPacking&) = delete;

  // Begins a pass over the lots. `floor`: see Attractions.
  void begin_pass(const PodLots& lots, double floor);
  // What comes next is packed from these lots, with the pods that they have now.
  void turn_to(const PodLots& lots) { scan_.reset(lots); }
  // Forgets fills, and the last choice of a machine.
  void forget_fills();
  // Turns to the lots and adds their pods to claims that stay: the room of those is paid for.
  void fill_kept(PodLots& lots, std::vector<ClaimDraft>& claims);
  // Packs all pods that are left. False when some pod has no machine, or after too much work.
  bool pack(PodLots& lots, std::vector<ClaimDraft>& result);
  // Packs one claim that begins with a pod of the lot. False when no machine takes it.
  bool pack_one(PodLots& lots, LotId lot, std::vector<ClaimDraft>& result);

  const ClaimFilling& filling() const { return filling_; }
  // The claims that were packed, as fills.
  const std::set<Fill>& fills() const { return fills_; }
  // Price over value of the claims of this pass, added up over the lot's pods.
  const ById<LotId, double>& paid() const { return paid_; }
  // Lots looked at, in all passes.
  std::size_t work() const { return scan_.work(); }

 private:
  // With the pods that suit it, as if room were worth what it is on claims of the shape `like`.
  // `first`: the bin has one pod, of that lot.
  void fill(PodLots& lots, Bin& bin, ShapeId like, LotId first = LotId::none());
  FillPods pods_of(const Bin& bin);
  void note_price(const PodLots& lots, const Bin& bin);

  PoolSearch search_;
  ClaimFilling filling_;
  std::size_t most_work_ = 0;
  Attractions attractions_;
  LotScan scan_;  // of the claim that is being filled
  MachineChoice machines_{search_, filling_, attractions_, scan_};
  std::set<Fill> fills_;
  ById<LotId, double> paid_;
  std::vector<LotId> in_order_;  // see pods_of()
};

}  // namespace millwright::scheduling
