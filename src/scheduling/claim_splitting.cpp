// ClaimDrafts::split(): two machines instead of one where sizes on sale leave a gap. Karpenter
// leaves this to consolidation, which then moves pods that have just started.
#include "scheduling/claim_drafts.hpp"
#include "scheduling/min_values.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace millwright::scheduling {
namespace {

// A split must save this part of the price: more nodes have a cost of their own.
constexpr double kWorthwhile = 0.03;
// How many sizes are tried for the first of the two.
constexpr std::size_t kMaxSizes = 32;

struct Size {
  double price;
  std::size_t row;
};

// The price of as much of a row as the requests fill, for the row where that is least (one of the
// bargains): a single machine cannot cost less.
double fractional_price(const PoolTemplate& pool, const ClaimShape& shape,
                        std::span<const std::uint32_t> bargains, const Amounts& requests) {
  double least = bargains.empty() ? 0 : std::numeric_limits<double>::infinity();
  for (const std::uint32_t row : bargains) {
    double filled = 0;
    for (std::size_t c = 0; c < requests.size(); ++c) {
      if (requests[c] > 0) {
        filled = std::max(
            filled, static_cast<double>(requests[c]) /
                        static_cast<double>(std::max<std::int64_t>(pool.room.room(row)[c], 1)));
      }
    }
    least = std::min(least, shape.price[row] * filled);
  }
  return least;
}

// Cheaper rows with different room, dearest first, thinned out evenly.
std::vector<Size> smaller_sizes(const PoolTemplate& pool, const ClaimShape& shape, double price) {
  std::vector<Size> sizes;
  shape.offered.for_each([&](std::size_t row) {
    if (shape.price[row] < price * (1 - kWorthwhile) && pool.room.usable().contains(row)) {
      sizes.push_back({shape.price[row], row});
    }
  });
  std::sort(sizes.begin(), sizes.end(), [&](const Size& a, const Size& b) {
    if (a.price != b.price) {
      return a.price > b.price;
    }
    const auto& left = pool.room.room(a.row);
    const auto& right = pool.room.room(b.row);
    return left != right ? left > right
                         : pool.table->row(a.row).type->name < pool.table->row(b.row).type->name;
  });
  const auto same = [&](const Size& a, const Size& b) {
    return a.price == b.price && pool.room.room(a.row) == pool.room.room(b.row);
  };
  sizes.erase(std::unique(sizes.begin(), sizes.end(), same), sizes.end());
  if (sizes.size() > kMaxSizes) {
    std::vector<Size> thinned;
    for (std::size_t i = 0; i < kMaxSizes; ++i) {
      thinned.push_back(sizes[i * sizes.size() / kMaxSizes]);
    }
    sizes = std::move(thinned);
  }
  return sizes;
}

// The least price of a row with room for the requests; nullopt when there is none.
std::optional<double> price_for(const PoolTemplate& pool, const ClaimShape& shape,
                                const Amounts& requests) {
  const auto found =
      std::find_if(shape.by_price.begin(), shape.by_price.end(),
                   [&](std::uint32_t row) { return fits(requests, pool.room.room(row)); });
  return found == shape.by_price.end() ? std::nullopt : std::optional(shape.price[*found]);
}

}  // namespace

bool ClaimDrafts::split(std::uint32_t index) {
  const ClaimDraft& claim = claims_[index];
  const PoolTemplate& pool = pools_[claim.pool];
  const ClaimShape& shape = shapes_[claim.shape];
  if (claim.reserved || claim.keeps_together || claim.pods.size() < 2) {
    return false;
  }
  const auto now = cheapest_row(pool, shape, claim);
  if (!now || now->price * (1 - kWorthwhile) <=
                  fractional_price(pool, shape, shapes_.bargains(claim.shape), claim.requests)) {
    return false;
  }
  double best = now->price * (1 - kWorthwhile);
  std::optional<std::vector<bool>> chosen;
  for (const Size& size : smaller_sizes(pool, shape, now->price)) {
    const std::vector<bool> fills = filling(claim, size.row);
    Amounts rest = claim.requests;
    Amounts taken(rest.size(), 0);
    for (std::size_t i = 0; i < fills.size(); ++i) {
      if (fills[i]) {
        add_to(taken, pods_.classes[pods_.pods[claim.pods[i]].pod_class].requests);
      }
    }
    subtract_from(rest, taken);
    const auto first = price_for(pool, shape, taken);
    const auto second = price_for(pool, shape, rest);
    if (first && second && *first + *second < best &&
        std::find(fills.begin(), fills.end(), true) != fills.end()) {
      best = *first + *second;
      chosen = fills;
    }
  }
  if (!chosen) {
    return false;
  }
  auto first = part(claim, *chosen, true);
  auto second = part(claim, *chosen, false);
  return first && second && replace(index, *std::move(first), *std::move(second));
}

std::vector<bool> ClaimDrafts::filling(const ClaimDraft& claim, std::size_t row) const {
  Amounts left = pools_[claim.pool].room.room(row);
  std::vector<bool> result(claim.pods.size(), false);
  for (std::size_t i = 0; i < claim.pods.size(); ++i) {
    const Amounts& requests = pods_.classes[pods_.pods[claim.pods[i]].pod_class].requests;
    if (fits(requests, left)) {
      subtract_from(left, requests);
      result[i] = true;
    }
  }
  return result;
}

Candidate ClaimDrafts::candidate(const ClaimDraft& claim, std::size_t i) const {
  const PodClass& pod_class = pods_.classes[pods_.pods[claim.pods[i]].pod_class];
  const Constraint& constraint = pods_.constraints[pod_class.constraint];
  return {pod_class, constraint, constraint.ladder[claim.rungs[i]],
          claim.narrowings.empty() ? Narrowed{} : claim.narrowings[i]};
}

std::optional<ClaimDraft> ClaimDrafts::part(const ClaimDraft& claim,
                                            const std::vector<bool>& chosen, bool which) {
  std::optional<ClaimDraft> result;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] != which) {
      continue;
    }
    const Candidate member = candidate(claim, i);
    if (result) {
      if (!join(*result, member, claim.pods[i])) {
        return std::nullopt;
      }
      continue;
    }
    result = draft(claim.pool, member, false);
    if (!result || result->reserved) {
      return std::nullopt;
    }
    add_pod(*result, member, claim.pods[i]);
  }
  return result && keep_domains(claim, *result) ? std::move(result) : std::nullopt;
}

bool ClaimDrafts::replace(std::uint32_t index, ClaimDraft first, ClaimDraft second) {
  Limits& limits = limits_[first.pool];
  if (limits.limited()) {
    // Both keep to the sizes that they are meant to be, or they would be charged for two large
    // ones.
    const Limits before = limits;
    for (ClaimDraft* claim : {&first, &second}) {
      const auto cheapest = cheapest_row(pools_[claim->pool], shapes_[claim->shape], *claim);
      claim->rows = limits.no_larger_than(cheapest->row, claim->rows);
      claim->charged = claim->rows;
      if (!satisfies_min_values(shapes_[claim->shape].requirements, *pools_[claim->pool].table,
                                claim->rows)) {
        return false;
      }
    }
    limits.recharge(claims_[index].charged, first.charged);
    RowSet within = second.rows;
    limits.keep_within(within);
    if (within != second.rows || limits.nodes_exhausted()) {
      limits = before;
      return false;
    }
    limits.charge(second.charged);
  }
  claims_[index] = std::move(first);
  claims_.push_back(std::move(second));
  return true;
}

}  // namespace millwright::scheduling
