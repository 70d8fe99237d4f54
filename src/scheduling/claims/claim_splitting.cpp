#include "scheduling/claims/claim_splitting.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

// A split must save this part of the price: more nodes have a cost of their own.
constexpr double kWorthSplitting = 0.03;
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
    if (shape.price[row] < price * (1 - kWorthSplitting) && pool.room.usable().contains(row)) {
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

// Pods of a claim that fill a row.
struct Filling {
  std::vector<bool> chosen;  // by position on the claim
  Amounts taken;             // what they ask for together
  bool any = false;
};

// First come first served.
void fill(const ClaimDraft& claim, Amounts room, const PodClasses& pods, Filling& result) {
  result.chosen.assign(claim.pods.size(), false);
  result.taken.assign(claim.requests.size(), 0);
  result.any = false;
  for (std::size_t i = 0; i < claim.pods.size(); ++i) {
    const Amounts& requests = pods.class_of(claim.pods[i]).requests;
    if (fits(requests, room)) {
      subtract_from(room, requests);
      add_to(result.taken, requests);
      result.chosen[i] = true;
      result.any = true;
    }
  }
}

// The pods that leave the claim for a machine of their own, so that the two cost least; nullopt
// when that saves too little.
std::optional<std::vector<bool>> cheapest_split(const ClaimDraft& claim, double price,
                                                const ClaimBuilder& builder) {
  const PoolTemplate& pool = builder.pools()[claim.pool];
  const ClaimShape& shape = builder.shapes()[claim.shape];
  double best = price * (1 - kWorthSplitting);
  std::optional<std::vector<bool>> chosen;
  Filling filling;
  for (const Size& size : smaller_sizes(pool, shape, price)) {
    fill(claim, pool.room.room(size.row), builder.pods(), filling);
    const auto first = price_for(pool, shape, filling.taken);
    if (!filling.any || !first || *first >= best) {
      continue;
    }
    Amounts rest = claim.requests;
    subtract_from(rest, filling.taken);
    const auto second = price_for(pool, shape, rest);
    if (second && *first + *second < best) {
      best = *first + *second;
      chosen = filling.chosen;
    }
  }
  return chosen;
}

// A claim of those pods of another that were chosen (or of those that were not).
std::optional<ClaimDraft> part_of(const ClaimDraft& claim, const std::vector<bool>& chosen,
                                  bool which, ClaimDrafts& drafts) {
  ClaimBuilder& builder = drafts.builder();
  std::optional<ClaimDraft> result;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] != which) {
      continue;
    }
    const Applicant member = member_of(claim, i, builder.pods());
    if (result) {
      if (!builder.join(*result, member, claim.pods[i])) {
        return std::nullopt;
      }
      continue;
    }
    result = builder.draft(claim.pool, member, LimitUse::Ignored);
    if (!result || result->reserved) {
      return std::nullopt;
    }
    builder.add_pod(*result, member, claim.pods[i]);
  }
  return result && drafts.domains().keep(claim, *result) ? std::move(result) : std::nullopt;
}

}  // namespace

bool split(ClaimDrafts& drafts, ClaimId index) {
  ClaimBuilder& builder = drafts.builder();
  const ClaimDraft& claim = drafts.claims()[index];
  // What parts of it ask for is added up by pod, so shared volumes would be missing.
  if (claim.reserved || claim.keeps_together || !claim.shared.empty() || claim.pods.size() < 2) {
    return false;
  }
  const PoolTemplate& pool = builder.pools()[claim.pool];
  const ClaimShape& shape = builder.shapes()[claim.shape];
  const auto now = cheapest_row(pool, shape, claim);
  if (!now ||
      now->price * (1 - kWorthSplitting) <=
          fractional_price(pool, shape, builder.shapes().bargains(claim.shape), claim.requests)) {
    return false;
  }
  const auto chosen = cheapest_split(claim, now->price, builder);
  if (!chosen) {
    return false;
  }
  auto first = part_of(claim, *chosen, true, drafts);
  auto second = part_of(claim, *chosen, false, drafts);
  return first && second && drafts.replace(index, *std::move(first), *std::move(second));
}

}  // namespace millwright::scheduling
