#include "scheduling/claims/claim_builder.hpp"

#include "scheduling/compile/pools/min_values.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr double kPriceTolerance = 1.02;
// Few claims have more pods.
constexpr std::size_t kUsualPods = 8;
constexpr double kNotSold = std::numeric_limits<double>::infinity();

// The pod wants nothing that the claim's pods do not want already.
bool same_resources(const ClaimDraft& claim, const Applicant& applicant) {
  const Amounts& more = applicant.pod_class.requests;
  for (std::size_t c = 0; c < more.size(); ++c) {
    if (more[c] > 0 && claim.requests[c] == 0) {
      return false;
    }
  }
  return true;
}

// Per resource the least that any class asks for.
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

}  // namespace

ClaimBuilder::ClaimBuilder(const CompiledProblem& compiled, const TopologyCounts& counts,
                           bool keep_price_levels)
    : problem_(compiled.problem),
      pods_(compiled.pods),
      pools_(compiled.pools),
      counts_(counts),
      shapes_(compiled.pools, compiled.rungs),
      reservations_(compiled.pools, compiled.problem),
      price_levels_(compiled.pods, compiled.pools),
      keep_price_levels_(keep_price_levels),
      own_price_levels_(compiled.pods.classes.size()),
      smallest_(smallest_requests(compiled.pods)),
      scratch_(compiled.pods.columns.size(), 0) {
  for (const PoolTemplate& pool : pools_) {
    limits_.emplace_back(pool, problem_);
  }
}

std::optional<ClaimDraft> ClaimBuilder::draft(PoolId pool, const Applicant& applicant,
                                              LimitUse limits) {
  const bool heed_limits = limits == LimitUse::Heeded;
  const PoolTemplate& owner = pools_[pool];
  if (!owner.problem.empty() || (heed_limits && limits_[pool].nodes_exhausted()) ||
      blocking_taint(owner.taints, applicant.constraint, applicant.rung) != nullptr) {
    return std::nullopt;
  }
  const ShapeId shape = joined_shape(shapes_.empty_claim(pool), applicant);
  if (shape == ShapeId::none()) {
    return std::nullopt;
  }
  ClaimDraft claim{.pool = pool, .shape = shape};
  claim.requests.assign(scratch_.size(), 0);
  const auto narrowed = [&](const RowSet& from) {
    RowSet rows = from;
    if (heed_limits && limits_[pool].limited()) {
      limits_[pool].keep_within(rows);
    }
    drop_rows_with_daemon_port_conflicts(rows, pool, applicant.constraint.ports);
    return rows;
  };
  // What is reserved is paid for already, so it comes first.
  for (const std::uint32_t kind : reserved_by_price(shapes_[shape])) {
    claim.reserved = kind;
    if (take_rows(claim, narrowed(shapes_[shape].admitted & owner.table->kinds()[kind].rows),
                  applicant)) {
      return claim;
    }
  }
  claim.reserved.reset();
  if (take_rows(claim, narrowed(shapes_[shape].offered), applicant)) {
    return claim;
  }
  return std::nullopt;
}

bool ClaimBuilder::take_rows(ClaimDraft& claim, RowSet rows, const Applicant& applicant) {
  const PoolTemplate& pool = pools_[claim.pool];
  if (!pool.room.keep_fitting(rows, applicant.pod_class.first())) {
    return false;
  }
  const ClaimShape& shape = shapes_[claim.shape];
  if (!has_choice(claim, shape, rows, applicant.pod_class.first())) {
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

bool ClaimBuilder::could_hold(PoolId pool, const Applicant& applicant) {
  const PoolTemplate& owner = pools_[pool];
  const ShapeId shape = joined_shape(shapes_.empty_claim(pool), applicant);
  return shape != ShapeId::none() &&
         owner.room.any_fits(owner.table->admitted(shapes_[shape].requirements),
                             applicant.pod_class.first());
}

std::optional<ClaimDraft> ClaimBuilder::start(PoolId pool, const Applicant& applicant, PodId pod) {
  auto claim = draft(pool, applicant, LimitUse::Ignored);
  if (!claim || claim->reserved || claim->min_values_relaxed) {
    return std::nullopt;
  }
  add_pod(*claim, applicant, pod);
  return claim;
}

void ClaimBuilder::add_pod(ClaimDraft& claim, const Applicant& applicant, PodId pod) {
  if (claim.pods.empty()) {
    claim.pods.reserve(kUsualPods);
    claim.rungs.reserve(kUsualPods);
  }
  add_requests(claim.requests, claim, applicant);
  for (const SharedVolume& volume : applicant.constraint.shared) {
    const auto at = std::lower_bound(claim.shared.begin(), claim.shared.end(), volume.id);
    if (at == claim.shared.end() || *at != volume.id) {
      claim.shared.insert(at, volume.id);
    }
  }
  claim.ports.add(applicant.constraint.ports);
  claim.pods.push_back(pod);
  claim.rungs.push_back(static_cast<std::uint16_t>(applicant.rung_index()));
  if (!counts_.topology().empty()) {
    if (claim.narrowings.empty()) {
      claim.narrowings.reserve(kUsualPods);
    }
    claim.narrowings.push_back(applicant.narrowed);
    add_to_tally(claim, applicant, counts_.topology().groups());
  }
  scratch_ = claim.requests;
  add_to(scratch_, smallest_);
  claim.full = !pools_[claim.pool].room.any_fits(claim.rows, scratch_);
}

bool ClaimBuilder::join(ClaimDraft& claim, const Applicant& applicant, PodId pod) {
  const PoolTemplate& pool = pools_[claim.pool];
  // What is cheap to find out comes first.
  if ((applicant.constraint.has_topology() && !admits_host(claim, applicant)) ||
      blocking_taint(pool.taints, applicant.constraint, applicant.rung) != nullptr) {
    return false;
  }
  scratch_ = claim.requests;
  add_requests(scratch_, claim, applicant);
  if (!pool.room.any_fits(claim.rows, scratch_)) {
    return false;
  }
  const ShapeId shape = joined_shape(claim.shape, applicant);
  if (shape == ShapeId::none() ||
      (keep_price_levels_ && is_dearer_than_its_own(claim, applicant))) {
    return false;
  }
  const bool levels =
      keep_price_levels_ && (shape != claim.shape || !same_resources(claim, applicant));
  const HostPorts& ports = applicant.constraint.ports;
  if (shape == claim.shape && ports.empty() && !shapes_[shape].has_min_values && !levels) {
    pool.room.keep_fitting(claim.rows, scratch_);
    add_pod(claim, applicant, pod);
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
  add_pod(claim, applicant, pod);
  return true;
}

bool ClaimBuilder::has_room(const ClaimDraft& claim, const Amounts& more) {
  scratch_ = claim.requests;
  add_to(scratch_, more);
  return pools_[claim.pool].room.any_fits(claim.rows, scratch_);
}

bool ClaimBuilder::admits_host(const ClaimDraft& claim, const Applicant& applicant) const {
  return scheduling::admits_host(claim.tally, applicant.constraint, applicant.rung, counts_);
}

ShapeId ClaimBuilder::joined_shape(ShapeId shape, const Applicant& applicant) {
  shape = shapes_.joined(shape, applicant.rung);
  for (const Narrowing* more : {applicant.narrowed.chosen, applicant.narrowed.closed}) {
    if (more != nullptr && shape != ShapeId::none()) {
      shape = shapes_.joined(shape, more->id, more->requirements);
    }
  }
  return shape;
}

bool ClaimBuilder::narrow_rows(const ClaimDraft& claim, const ClaimShape& next,
                               RowSet& rows) const {
  if (!claim.reserved) {
    rows &= next.offered;
    return true;
  }
  rows &= next.admitted;
  // Otherwise it would lose its reservation.
  return std::find(next.reserved.begin(), next.reserved.end(), *claim.reserved) !=
         next.reserved.end();
}

std::optional<ClaimBuilder::Narrower> ClaimBuilder::narrower(const ClaimDraft& claim,
                                                             const Narrowing& narrowing) {
  const ShapeId shape = shapes_.joined(claim.shape, narrowing.id, narrowing.requirements);
  if (shape == ShapeId::none()) {
    return std::nullopt;
  }
  const ClaimShape& next = shapes_[shape];
  Narrower result{shape, claim.rows};
  if (!narrow_rows(claim, next, result.rows) ||
      !pools_[claim.pool].room.keep_fitting(result.rows, claim.requests) ||
      !has_choice(claim, next, result.rows, claim.requests)) {
    return std::nullopt;
  }
  return result;
}

bool ClaimBuilder::has_choice(const ClaimDraft& claim, const ClaimShape& shape, const RowSet& rows,
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

void ClaimBuilder::drop_rows_with_daemon_port_conflicts(RowSet& rows, PoolId pool,
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

bool ClaimBuilder::would_raise_prices(const ClaimDraft& claim, const ClaimShape& next,
                                      const RowSet& rows) const {
  const ClaimDraft after{.pool = claim.pool, .rows = rows, .reserved = claim.reserved};
  return price_levels_.of(claim.pool, next, after) > kPriceTolerance * claim.price_level;
}

bool ClaimBuilder::is_dearer_than_its_own(const ClaimDraft& claim, const Applicant& applicant) {
  const auto key = static_cast<std::size_t>(&applicant.pod_class - pods_.classes.data());
  auto& by_rung = own_price_levels_[key];
  by_rung.resize(applicant.constraint.ladder.size(), -1);
  double& own = by_rung[applicant.rung_index()];
  for (PoolId pool; own < 0 && pool < pools_.end_id(); ++pool) {
    if (const auto alone = draft(pool, applicant, LimitUse::Ignored)) {
      own = alone->reserved ? kNotSold : price_level(*alone);
    }
  }
  own = own < 0 ? kNotSold : own;
  return claim.price_level > kPriceTolerance * own;
}

double ClaimBuilder::price_of_new(const Applicant& applicant) {
  for (PoolId pool; pool < pools_.end_id(); ++pool) {
    if (const auto claim = draft(pool, applicant, LimitUse::Heeded)) {
      const auto cheapest = cheapest_row(pools_[pool], shapes_[claim->shape], *claim);
      return cheapest ? cheapest->price : kNotSold;
    }
  }
  return kNotSold;
}

std::vector<std::uint32_t> ClaimBuilder::reserved_by_price(const ClaimShape& shape) const {
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

}  // namespace millwright::scheduling
