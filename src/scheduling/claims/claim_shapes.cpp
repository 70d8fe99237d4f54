#include "scheduling/claims/claim_shapes.hpp"

#include "scheduling/values/signature.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr double kNoPrice = std::numeric_limits<double>::infinity();

}  // namespace

ClaimShapes::ClaimShapes(const ById<PoolId, PoolTemplate>& pools, const RungIndex& rungs)
    : pools_(pools), rungs_(rungs) {
  for (PoolId pool; pool < pools.end_id(); ++pool) {
    empty_.push_back(of(pool, pools[pool].requirements));
  }
}

ShapeId ClaimShapes::joined(ShapeId shape, std::uint32_t id, const Requirements& requirements) {
  const std::uint64_t key = (std::uint64_t{shape.index()} << 32) | id;
  Joined& last = last_joined_[(shape.index() * 31 + id) % last_joined_.size()];
  if (last.key != key) {
    last = {key, look_up_joined(shape, id, requirements)};
  }
  return last.shape;
}

ShapeId ClaimShapes::look_up_joined(ShapeId shape, std::uint32_t id,
                                    const Requirements& requirements) {
  const std::uint64_t key = (std::uint64_t{shape.index()} << 32) | id;
  if (unfit_.size() <= id) {
    unfit_.resize(id + 1);
  }
  std::vector<bool>& unfit = unfit_[id];
  if (shape.index() < unfit.size() && unfit[shape.index()]) {
    return ShapeId::none();
  }
  if (const auto known = joined_.find(key); known != joined_.end()) {
    return known->second;
  }
  const ClaimShape& before = shapes_[shape];
  if (!before.requirements.compatible(requirements, AllowUndefined::WellKnown)) {
    unfit.resize(shapes_.size(), false);
    unfit[shape.index()] = true;
    return ShapeId::none();
  }
  Requirements merged = before.requirements;
  merged.add(requirements);
  const ShapeId result = of(before.pool, std::move(merged));
  joined_.emplace(key, result);
  return result;
}

ShapeId ClaimShapes::of(PoolId pool, Requirements requirements) {
  std::string signature = std::to_string(pool.index()) + "\n";
  append_signature(signature, requirements);
  const auto [found, added] = by_signature_.try_emplace(std::move(signature), shapes_.end_id());
  if (!added) {
    return found->second;
  }
  const PoolTemplate& owner = pools_[pool];
  ClaimShape shape{.pool = pool,
                   .admitted = owner.rows,
                   .offered = RowSet(owner.table->size()),
                   .price = std::vector<double>(owner.table->size(), kNoPrice),
                   .has_min_values = requirements.has_min_values()};
  shape.admitted &= owner.table->admitted(requirements);
  const auto& kinds = owner.table->kinds();
  for (std::uint32_t i = 0; i < kinds.size(); ++i) {
    if (!requirements.compatible(kinds[i].requirements, AllowUndefined::WellKnown)) {
      continue;
    }
    (kinds[i].reserved ? shape.reserved : shape.kinds).push_back(i);
    if (!kinds[i].reserved) {
      shape.offered |= kinds[i].rows;
      for (std::size_t row = 0; row < shape.price.size(); ++row) {
        shape.price[row] = std::min(shape.price[row], kinds[i].price[row]);
      }
    }
  }
  shape.offered &= shape.admitted;
  shape.by_price.reserve(shape.offered.count());
  for (const std::uint32_t row : owner.table->by_price()) {
    if (shape.offered.contains(row)) {
      shape.by_price.push_back(row);
    }
  }
  // As a rule they are in order already: what is cheap in one zone is so in another.
  const auto cheaper = [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(shape.price[a], owner.table->row(a).type->name, a) <
           std::tie(shape.price[b], owner.table->row(b).type->name, b);
  };
  if (!std::is_sorted(shape.by_price.begin(), shape.by_price.end(), cheaper)) {
    std::sort(shape.by_price.begin(), shape.by_price.end(), cheaper);
  }
  shape.requirements = std::move(requirements);
  shape.market = market_of(shape);
  if (shape.market == shapes_.end_id()) {
    markets_.push_back(shape.market);
  }
  shapes_.push_back(std::move(shape));
  return found->second;
}

ShapeId ClaimShapes::market_of(const ClaimShape& shape) const {
  const auto same = std::find_if(markets_.begin(), markets_.end(), [&](ShapeId other) {
    return shapes_[other].pool == shape.pool && shapes_[other].offered == shape.offered &&
           shapes_[other].price == shape.price;
  });
  return same == markets_.end() ? shapes_.end_id() : *same;
}

const std::vector<std::uint32_t>& ClaimShapes::meeting(ShapeId shape) {
  meeting_.resize(shapes_.size());
  auto& result = meeting_[shape];
  if (!result) {
    result = rungs_.meeting(shapes_[shape].requirements);
  }
  return *result;
}

const std::vector<std::uint32_t>& ClaimShapes::bargains(ShapeId index) {
  bargains_.resize(shapes_.size());
  const ClaimShape& shape = shapes_[index];
  auto& result = bargains_[shape.market];
  if (result) {
    return *result;
  }
  const RoomTable& room = pools_[shape.pool].room;
  struct Row {
    std::uint32_t row = 0;
    std::vector<double> costs;  // by column
  };
  const auto beats = [](const Row& a, const Row& b) {
    return std::equal(a.costs.begin(), a.costs.end(), b.costs.begin(), std::less_equal<>());
  };
  std::vector<Row> best;
  Row next;
  // Dearest first: as a rule those beat many.
  for (auto row = shape.by_price.rbegin(); row != shape.by_price.rend(); ++row) {
    next.row = *row;
    next.costs.clear();
    for (const std::int64_t amount : room.room(*row)) {
      next.costs.push_back(shape.price[*row] /
                           static_cast<double>(std::max<std::int64_t>(amount, 1)));
    }
    if (std::none_of(best.begin(), best.end(), [&](const Row& one) { return beats(one, next); })) {
      std::erase_if(best, [&](const Row& one) { return beats(next, one); });
      best.push_back(next);
    }
  }
  result.emplace();
  for (const Row& one : best) {
    result->push_back(one.row);
  }
  return *result;
}

}  // namespace millwright::scheduling
