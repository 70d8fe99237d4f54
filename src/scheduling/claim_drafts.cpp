#include "scheduling/claim_drafts.hpp"

#include "scheduling/existing_nodes.hpp"
#include "scheduling/min_values.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr double kPriceTolerance = 1.02;
constexpr double kNotSold = std::numeric_limits<double>::infinity();

// The pod wants nothing that the claim's pods do not want already.
bool same_resources(const ClaimDraft& claim, const Candidate& candidate) {
  const Amounts& more = candidate.pod_class.requests;
  for (std::size_t c = 0; c < more.size(); ++c) {
    if (more[c] > 0 && claim.requests[c] == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

Amounts smallest_requests(const PodClasses& pods) {
  Amounts smallest(pods.columns.size(), 0);
  for (std::size_t i = 0; i < pods.classes.size(); ++i) {
    const Amounts& requests = pods.classes[i].requests;
    for (std::size_t c = 0; c < smallest.size(); ++c) {
      smallest[c] = i == 0 ? requests[c] : std::min(smallest[c], requests[c]);
    }
  }
  return smallest;
}

ClaimDrafts::ClaimDrafts(const Problem& problem, const PodClasses& pods,
                         std::span<const PoolTemplate> pools, TopologyCounts& counts,
                         Narrowings& narrowings, bool keep_price_levels)
    : problem_(problem),
      pods_(pods),
      pools_(pools),
      counts_(counts),
      narrowings_(narrowings),
      shapes_(pools),
      reservations_(pools, problem),
      unit_prices_(pods, pools),
      keep_price_levels_(keep_price_levels),
      own_unit_prices_(pods.classes.size()),
      smallest_(smallest_requests(pods)),
      scratch_(pods.columns.size(), 0) {
  for (const PoolTemplate& pool : pools) {
    limits_.emplace_back(pool, problem);
  }
}

bool ClaimDrafts::join(std::uint32_t claim, const Candidate& candidate, std::uint32_t pod) {
  if (!join(claims_[claim], candidate, pod)) {
    return false;
  }
  if (!counts_.topology().empty()) {
    count(claim, candidate.constraint);
  }
  return true;
}

std::uint32_t ClaimDrafts::joined_shape(std::uint32_t shape, const Candidate& candidate) {
  shape = shapes_.joined(shape, candidate.rung);
  for (const Narrowing* more : {candidate.narrowed.chosen, candidate.narrowed.closed}) {
    if (more != nullptr && shape != ClaimShapes::kNone) {
      shape = shapes_.joined(shape, more->id, more->requirements);
    }
  }
  return shape;
}

bool ClaimDrafts::narrow_rows(const ClaimDraft& claim, const ClaimShape& next, RowSet& rows) const {
  if (!claim.reserved) {
    rows &= next.offered;
    return true;
  }
  rows &= next.admitted;
  // Otherwise it would lose its reservation.
  return std::find(next.reserved.begin(), next.reserved.end(), *claim.reserved) !=
         next.reserved.end();
}

bool ClaimDrafts::join(ClaimDraft& claim, const Candidate& candidate, std::uint32_t pod) {
  const PoolTemplate& pool = pools_[claim.pool];
  // What is cheap to find out comes first.
  if ((candidate.constraint.has_topology() && !admits_host(claim, candidate)) ||
      blocking_taint(pool.taints, candidate.constraint, candidate.rung) != nullptr) {
    return false;
  }
  scratch_ = claim.requests;
  add_to(scratch_, candidate.pod_class.requests);
  if (!pool.room.any_fits(claim.rows, scratch_)) {
    return false;
  }
  const std::uint32_t shape = joined_shape(claim.shape, candidate);
  if (shape == ClaimShapes::kNone ||
      (keep_price_levels_ && is_dearer_than_its_own(claim, candidate))) {
    return false;
  }
  const bool levels =
      keep_price_levels_ && (shape != claim.shape || !same_resources(claim, candidate));
  const HostPorts& ports = candidate.constraint.ports;
  if (shape == claim.shape && ports.empty() && !shapes_[shape].has_min_values && !levels) {
    pool.room.keep_fitting(claim.rows, scratch_);
    add_pod(claim, candidate, pod);
    return true;
  }
  if (!ports.empty() && claim.ports.conflict(ports) != nullptr) {
    return false;
  }
  const ClaimShape& next = shapes_[shape];
  RowSet rows = claim.rows;
  if (!narrow_rows(claim, next, rows)) {
    return false;
  }
  drop_rows_with_daemon_port_conflicts(rows, claim.pool, ports);
  if (!pool.room.keep_fitting(rows, scratch_) || !has_choice(claim, next, rows, scratch_) ||
      (levels && would_raise_prices(claim, next, rows))) {
    return false;
  }
  claim.rows = std::move(rows);
  claim.shape = shape;
  add_pod(claim, candidate, pod);
  return true;
}

void ClaimDrafts::add_pod(ClaimDraft& claim, const Candidate& candidate, std::uint32_t pod) {
  add_to(claim.requests, candidate.pod_class.requests);
  claim.ports.add(candidate.constraint.ports);
  claim.pods.push_back(pod);
  claim.rungs.push_back(
      static_cast<std::uint16_t>(&candidate.rung - candidate.constraint.ladder.data()));
  if (!counts_.topology().empty()) {
    note_topology(claim, candidate);
  }
  note_if_full(claim);
}

std::optional<std::uint32_t> ClaimDrafts::open(const Candidate& candidate, std::uint32_t pod) {
  for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) {
    auto claim = draft(pool, candidate, true);
    if (!claim) {
      continue;
    }
    if (claim->reserved) {
      reservations_.take(pools_[pool].table->kinds()[*claim->reserved]);
    }
    if (keep_price_levels_) {
      claim->unit_price = unit_prices_.of(pool, shapes_[claim->shape], *claim);
    }
    add_pod(*claim, candidate, pod);
    if (limits_[pool].limited()) {
      limits_[pool].charge(claim->rows);
      claim->charged = claim->rows;
    }
    claims_.push_back(*std::move(claim));
    const auto index = static_cast<std::uint32_t>(claims_.size() - 1);
    if (!counts_.topology().empty()) {
      count(index, candidate.constraint);
    }
    return index;
  }
  return std::nullopt;
}

bool ClaimDrafts::would_open_without_limits(std::uint32_t pool, const Candidate& candidate) {
  return draft(pool, candidate, false).has_value();
}

std::optional<ClaimDraft> ClaimDrafts::draft(std::uint32_t pool, const Candidate& candidate,
                                             bool heed_limits) {
  const PoolTemplate& owner = pools_[pool];
  if (!owner.problem.empty() || (heed_limits && limits_[pool].nodes_exhausted()) ||
      blocking_taint(owner.taints, candidate.constraint, candidate.rung) != nullptr) {
    return std::nullopt;
  }
  const std::uint32_t shape = joined_shape(shapes_.empty_claim(pool), candidate);
  if (shape == ClaimShapes::kNone) {
    return std::nullopt;
  }
  ClaimDraft claim{.pool = pool, .shape = shape};
  claim.requests.assign(scratch_.size(), 0);
  const auto narrowed = [&](const RowSet& from) {
    RowSet rows = from;
    if (heed_limits && limits_[pool].limited()) {
      limits_[pool].keep_within(rows);
    }
    drop_rows_with_daemon_port_conflicts(rows, pool, candidate.constraint.ports);
    return rows;
  };
  // What is reserved is paid for already, so it comes first.
  for (const std::uint32_t kind : reserved_by_price(shapes_[shape])) {
    claim.reserved = kind;
    if (settle(claim, narrowed(shapes_[shape].admitted & owner.table->kinds()[kind].rows),
               candidate)) {
      return claim;
    }
  }
  claim.reserved.reset();
  if (settle(claim, narrowed(shapes_[shape].offered), candidate)) {
    return claim;
  }
  return std::nullopt;
}

bool ClaimDrafts::settle(ClaimDraft& claim, RowSet rows, const Candidate& candidate) {
  const PoolTemplate& pool = pools_[claim.pool];
  if (!pool.room.keep_fitting(rows, candidate.pod_class.requests)) {
    return false;
  }
  const ClaimShape& shape = shapes_[claim.shape];
  if (!has_choice(claim, shape, rows, candidate.pod_class.requests)) {
    if (problem_.options.min_values == MinValuesPolicy::Strict || claim.reserved) {
      return false;
    }
    Requirements lowered = shape.requirements;
    relax_min_values(lowered, *pool.table, rows);
    claim.shape = shapes_.of(claim.pool, std::move(lowered));
    claim.min_values_relaxed = true;
  }
  claim.rows = std::move(rows);
  return true;
}

bool ClaimDrafts::has_choice(const ClaimDraft& claim, const ClaimShape& shape, const RowSet& rows,
                             const Amounts& requests) const {
  if (!shape.has_min_values) {
    return true;
  }
  const PoolTemplate& pool = pools_[claim.pool];
  if (!claim.reserved) {
    return satisfies_min_values(shape.requirements, *pool.table, rows);
  }
  if (problem_.options.min_values == MinValuesPolicy::BestEffort) {
    return true;
  }
  RowSet all = shape.offered;
  all |= rows;
  return pool.room.keep_fitting(all, requests) &&
         satisfies_min_values(shape.requirements, *pool.table, all);
}

void ClaimDrafts::drop_rows_with_daemon_port_conflicts(RowSet& rows, std::uint32_t pool,
                                                       const HostPorts& ports) const {
  if (ports.empty()) {
    return;
  }
  for (const DaemonGroup& group : pools_[pool].daemon_groups) {
    if (group.ports.conflict(ports) != nullptr) {
      rows -= group.rows;
    }
  }
}

bool ClaimDrafts::would_raise_prices(const ClaimDraft& claim, const ClaimShape& next,
                                     const RowSet& rows) const {
  const ClaimDraft after{.pool = claim.pool, .rows = rows, .reserved = claim.reserved};
  return unit_prices_.of(claim.pool, next, after) > kPriceTolerance * claim.unit_price;
}

bool ClaimDrafts::is_dearer_than_its_own(const ClaimDraft& claim, const Candidate& candidate) {
  const auto key = static_cast<std::size_t>(&candidate.pod_class - pods_.classes.data());
  auto& by_rung = own_unit_prices_[key];
  by_rung.resize(candidate.constraint.ladder.size(), -1);
  double& own =
      by_rung[static_cast<std::size_t>(&candidate.rung - candidate.constraint.ladder.data())];
  for (std::uint32_t pool = 0; own < 0 && pool < pools_.size(); ++pool) {
    if (const auto alone = draft(pool, candidate, false)) {
      own = alone->reserved ? kNotSold : unit_prices_.of(pool, shapes_[alone->shape], *alone);
    }
  }
  own = own < 0 ? kNotSold : own;
  return claim.unit_price > kPriceTolerance * own;
}

std::vector<std::uint32_t> ClaimDrafts::reserved_by_price(const ClaimShape& shape) const {
  const PoolTemplate& pool = pools_[shape.pool];
  std::vector<std::pair<double, std::uint32_t>> priced;
  for (const std::uint32_t index : shape.reserved) {
    const OfferingKind& kind = pool.table->kinds()[index];
    if (!reservations_.available(kind)) {
      continue;
    }
    double least = kNotSold;
    (shape.admitted & kind.rows).for_each([&](std::size_t row) {
      least = std::min(least, kind.price[row]);
    });
    priced.emplace_back(least, index);
  }
  std::sort(priced.begin(), priced.end());
  std::vector<std::uint32_t> result;
  for (const auto& [price, index] : priced) {
    result.push_back(index);
  }
  return result;
}

bool ClaimDrafts::tighten(std::uint32_t pool) {
  bool freed = false;
  for (ClaimDraft& claim : claims_) {
    if (claim.pool != pool) {
      continue;
    }
    const ClaimShape& shape = shapes_[claim.shape];
    const auto cheapest = cheapest_row(pools_[pool], shape, claim);
    if (!cheapest) {
      continue;
    }
    RowSet rows = limits_[pool].no_larger_than(cheapest->row, claim.rows);
    if (rows == claim.charged || !has_choice(claim, shape, rows, claim.requests)) {
      continue;
    }
    limits_[pool].recharge(claim.charged, rows);
    claim.charged = rows;
    claim.rows = std::move(rows);
    freed = true;
  }
  return freed;
}

double row_price(const PoolTemplate& pool, const ClaimShape& shape, const ClaimDraft& claim,
                 std::size_t row) {
  return claim.reserved ? pool.table->kinds()[*claim.reserved].price[row] : shape.price[row];
}

std::optional<CheapestRow> cheapest_row(const PoolTemplate& pool, const ClaimShape& shape,
                                        const ClaimDraft& claim) {
  if (!claim.reserved) {
    const auto found = std::find_if(shape.by_price.begin(), shape.by_price.end(),
                                    [&](std::uint32_t row) { return claim.rows.contains(row); });
    return found == shape.by_price.end() ? std::nullopt
                                         : std::optional(CheapestRow{*found, shape.price[*found]});
  }
  std::optional<CheapestRow> best;
  const auto& prices = pool.table->kinds()[*claim.reserved].price;
  claim.rows.for_each([&](std::size_t row) {
    if (!best || prices[row] < best->price ||
        (prices[row] == best->price &&
         pool.table->row(row).type->name < pool.table->row(best->row).type->name)) {
      best = CheapestRow{row, prices[row]};
    }
  });
  return best;
}

}  // namespace millwright::scheduling
