// Which lots suit a claim: how much what is left of each resource speaks for pods of a lot. The lot
// with the largest dot product of attraction and room is chosen next, see LotScan.
#pragma once

#include "scheduling/search/lots/pod_lots.hpp"

#include <map>
#include <vector>

namespace millwright::scheduling {

class Attractions {
 public:
  // `floor`: how much resources count that are plenty on the whole, see with_floor().
  explicit Attractions(double floor = 1) : floor_(floor) {}

  // For claims of the shape, by lot and column. Stays where it is.
  const std::vector<double>& of(const PodLots& lots, ShapeId shape);

 private:
  double floor_;
  std::map<ShapeId, std::vector<double>> by_shape_;
};

}  // namespace millwright::scheduling
