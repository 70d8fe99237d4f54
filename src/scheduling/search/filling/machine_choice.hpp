// Which machine to buy for a claim that begins with a pod of a given lot: the one that, filled in
// mind with the pods that suit it, costs least for what they are worth.
#pragma once

#include "scheduling/search/filling/claim_filling.hpp"
#include "scheduling/search/lots/attractions.hpp"
#include "scheduling/search/lots/lot_scan.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {

class MachineChoice {
 public:
  MachineChoice(const PoolSearch& search, const ClaimFilling& filling, Attractions& attractions,
                LotScan& scan)
      : search_(search), filling_(filling), attractions_(attractions), scan_(scan) {}

  // None when no machine has room for one of the lot's pods. The choice serves for more claims that
  // begin with the same lot, as long as they turn out as expected.
  std::optional<CheapestRow> choose(const PodLots& lots, LotId lot);
  // What the claim for the last choice came to: its price over the value of its pods.
  void note_result(double ratio) { last_.ratio = ratio; }
  void forget_last() { last_ = {}; }

 private:
  struct Buy {
    CheapestRow machine;
    double efficiency = 0;  // price over the worth of the room; 1 is the best there is
    std::size_t range = 0;  // of prices, up to twice the least
  };
  // The machines on sale to claims of one shape, without those that are alike. The same ones twice.
  struct Market {
    std::vector<Buy> by_efficiency;
    std::vector<Buy> by_price;
    std::size_t ranges = 0;
  };
  struct Choice {
    LotId lot;
    std::optional<CheapestRow> machine;
    double expected = 0;  // price over value of the pods
    double ratio = 0;     // as it came out the last time
    std::size_t times = 0;
  };

  const Market& market(const PodLots& lots, ShapeId shape);
  // The following choose what is worth trying.
  void find_worth_trying(const PodLots& lots, const Lot& lot);
  // The best of each price range, the most efficient first.
  void best_of_each_range(const Market& market, const Lot& lot);
  // Those that cost no more than about `fair`, evenly over the prices.
  void up_to(double fair, const Market& market, const Lot& lot);
  bool has_room(const Buy& buy, const Lot& lot) const;
  // What the pods are worth that the machine would hold, one of the lot among them.
  double fill_in_mind(const PodLots& lots, CheapestRow machine, LotId first);

  PoolSearch search_;
  const ClaimFilling& filling_;
  Attractions& attractions_;
  LotScan& scan_;
  std::map<ShapeId, Market> markets_;  // by ClaimShape::market
  Choice last_;
  std::vector<CheapestRow> worth_trying_;
  std::vector<CheapestRow> fitting_;                   // see up_to()
  std::vector<std::size_t> in_range_;                  // see best_of_each_range()
  std::vector<std::pair<double, CheapestRow>> tried_;  // price over value, as in `last_`
  bool sharing_ = false;  // keeping pods apart takes more claims than would be made for the price
};

}  // namespace millwright::scheduling
