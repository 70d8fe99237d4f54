// Which lots suit a claim: how much what is left of each resource speaks for pods of a lot. The lot
// with the largest dot product of attraction and room is chosen next, see LotScan.
#pragma once

#include "scheduling/search/lots/pod_lots.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// The lots that are looked at for a claim, the dearest first.
struct Suitors {
  std::vector<LotId> lots;
  std::vector<double> attraction;  // by place in `lots` and column
};
using SuitorsPtr = std::shared_ptr<const Suitors>;

class Attractions {
 public:
  // `floor`: how much resources count that are plenty on the whole, see with_floor().
  explicit Attractions(double floor = 1) : floor_(floor) {}

  // The lots that may join a claim of the shape, as if room on it were worth what it is on the
  // shape `like`, which is that of a lot.
  SuitorsPtr of(const PodLots& lots, ShapeId shape, ShapeId like);

 private:
  double floor_;
  std::map<std::pair<ShapeId, ShapeId>, SuitorsPtr> known_;
  std::size_t kept_ = 0;  // numbers in `known_`
};

}  // namespace millwright::scheduling
