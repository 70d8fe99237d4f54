// Which lots suit a claim: how much what is left of each resource speaks for pods of a lot. The lot
// with the largest dot product of attraction and room is chosen next, see LotScan.
#pragma once

#include "scheduling/search/lots/pod_lots.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// The lots that are looked at for a claim, the dearest first. Their attractions stand side by side
// in blocks, those that attract most first, so that a block is scored at a time.
struct Suitors {
  static constexpr std::size_t kBlock = 16;  // lots of one block; the last may have fewer

  // `by_lot`: attractions by lot and column. `usual`: some room, by column.
  Suitors(std::vector<LotId> of, std::span<const double> by_lot, const Amounts& usual);

  // The attractions of the lot at that place of the blocks: a column is kBlock after the last.
  const double* of(std::size_t at, std::size_t columns) const {
    return &attraction[at / kBlock * kBlock * columns + at % kBlock];
  }
  std::size_t blocks() const { return (lots.size() + kBlock - 1) / kBlock; }

  std::vector<LotId> lots;
  std::vector<std::uint32_t> in_blocks;  // places in `lots`, in the order of the blocks
  std::vector<std::uint32_t> position;   // by place: where it is in the blocks
  std::vector<double> attraction;  // by block, column and lot; zero where the last block is short
  std::vector<double> most;        // by block and column: the largest of the block
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
