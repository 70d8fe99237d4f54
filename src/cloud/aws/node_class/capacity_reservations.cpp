#include "cloud/aws/node_class/capacity_reservations.hpp"

#include "cloud/aws/node_class/filters.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

std::vector<Filter> reservation_filters(const SelectorTerm& term) {
  auto filters = tag_filters(term.tags);
  if (!term.owner.empty()) {
    filters.push_back({"owner-id", {term.owner}});
  }
  if (!term.match_criteria.empty()) {
    filters.push_back({"instance-match-criteria", {term.match_criteria}});
  }
  return filters;
}

}  // namespace

base::Task<ApiResult<std::vector<CountedReservation>>> find_reservations(
    Api& api, std::vector<SelectorTerm> terms) {
  Ec2 ec2(api);
  std::vector<CountedReservation> found;
  for (const auto& term : terms) {
    std::vector<Filter> filters;
    std::vector<std::string> ids;
    if (term.id.empty()) {
      filters = reservation_filters(term);
    } else {
      ids.push_back(term.id);  // each by itself: one that does not exist fails the whole call
    }
    auto answered = co_await ec2.reservations(std::move(filters), std::move(ids));
    if (!answered && answered.error().kind != base::ErrorKind::NotFound) {
      co_return tl::unexpected(std::move(answered).error());
    }
    if (answered) {
      found.insert(found.end(), answered->begin(), answered->end());
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.reservation.id < b.reservation.id; });
  found.erase(std::unique(found.begin(), found.end(),
                          [](const auto& a, const auto& b) {
                            return a.reservation.id == b.reservation.id;
                          }),
              found.end());
  co_return found;
}

std::vector<CapacityReservation> SelectedReservations::keep(std::vector<CountedReservation> found) {
  std::vector<CapacityReservation> result;
  for (auto& [reservation, available] : found) {
    counted_[reservation.id] = available;
    known_.insert(reservation.id);
    const auto end = base::parse_rfc3339(reservation.end_time);
    if (reservation.is_block() && end) {
      block_ends_[reservation.id] = *end;
    }
    result.push_back(std::move(reservation));
  }
  return result;
}

bool SelectedReservations::publish(ReservationCounts& counts) {
  bool changed = false;
  for (const auto& [id, left] : std::exchange(counted_, {})) {
    changed = counts.set(id, left) || changed;
  }
  return changed;
}

void SelectedReservations::forget(const std::string& id) {
  known_.erase(id);
  block_ends_.erase(id);
}

std::set<std::string, std::less<>> SelectedReservations::expiring_blocks(
    base::TimePoint now) const {
  std::set<std::string, std::less<>> expiring;
  for (const auto& [id, end] : block_ends_) {
    if (now >= end - kBlockEndsEarly && now < end) {
      expiring.insert(id);
    }
  }
  return expiring;
}

}  // namespace millwright::cloud::aws
