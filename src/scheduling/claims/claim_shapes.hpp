// The requirements a claim in the making can have, and what follows from them. Claims with equal
// requirements share one shape, so that "may this pod join that claim" is worked out once per pair
// of shape and pod requirements, not once per pod.
#pragma once

#include "scheduling/compile/pods/rung_index.hpp"
#include "scheduling/compile/pools/pool_template.hpp"
#include "scheduling/values/ids.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millwright::scheduling {

struct ClaimShape {
  PoolId pool;
  Requirements requirements;
  RowSet admitted;                      // rows of the pool that meet the requirements
  RowSet offered;                       // those with an available offering, reserved ones apart
  std::vector<std::uint32_t> kinds;     // compatible offering kinds, reserved ones apart
  std::vector<std::uint32_t> reserved;  // compatible reserved kinds
  std::vector<double> price;            // by row: the least of `kinds`; infinity when not sold
  std::vector<std::uint32_t> by_price;  // rows of `offered`, cheapest first, then by type name
  // The first shape that finds the same machines at the same prices; most differ in their zone
  // only.
  ShapeId market;
  bool has_min_values = false;
};

class ClaimShapes {
 public:
  ClaimShapes(const ById<PoolId, PoolTemplate>& pools, const RungIndex& rungs);

  const ClaimShape& operator[](ShapeId shape) const { return shapes_[shape]; }
  // The shape of a claim of the pool without pods.
  ShapeId empty_claim(PoolId pool) const { return empty_[pool]; }
  // After requirements are added; ShapeId::none() when they cannot be. The id stands for the
  // requirements: a rung's or a narrowing's.
  ShapeId joined(ShapeId shape, std::uint32_t id, const Requirements& requirements);
  ShapeId joined(ShapeId shape, const Rung& rung) {
    return joined(shape, rung.id, rung.requirements);
  }
  // The shape of these requirements.
  ShapeId of(PoolId pool, Requirements requirements);
  // Ids of the rungs that may join a claim of the shape, in ascending order, see RungIndex; some of
  // them may turn out not to.
  const std::vector<std::uint32_t>& meeting(ShapeId shape);
  // Rows on offer that none other beats in what every resource costs. As much of one of them as a
  // claim fills costs less than as much of any other row.
  const std::vector<std::uint32_t>& bargains(ShapeId shape);

 private:
  ShapeId market_of(const ClaimShape& shape) const;
  ShapeId look_up_joined(ShapeId shape, std::uint32_t id, const Requirements& requirements);

  const ById<PoolId, PoolTemplate>& pools_;
  const RungIndex& rungs_;
  ById<ShapeId, ClaimShape> shapes_;
  std::vector<ShapeId> markets_;  // those that are ClaimShape::market
  ById<ShapeId, std::optional<std::vector<std::uint32_t>>> bargains_;  // by market
  ById<ShapeId, std::optional<std::vector<std::uint32_t>>> meeting_;
  ById<PoolId, ShapeId> empty_;
  std::map<std::string, ShapeId> by_signature_;
  std::unordered_map<std::uint64_t, ShapeId> joined_;  // by shape and id, where they go together
  // Some of the last answers, each where the hash of its key says. Most pods ask what others did.
  struct Joined {
    std::uint64_t key = kNoKey;
    ShapeId shape;
  };
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
  std::array<Joined, 256> last_joined_{};
  // By id, by shape: whether they do not. Nearly all pairs are such where every application chooses
  // nodes of its own.
  std::vector<std::vector<bool>> unfit_;
};

}  // namespace millwright::scheduling
