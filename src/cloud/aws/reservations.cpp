#include "cloud/aws/reservations.hpp"

#include "cloud/aws/resolver.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

std::vector<Filter> filters_of(const SelectorTerm& term) {
  std::vector<Filter> filters;
  for (const auto& [key, value] : term.tags) {
    filters.push_back(value == "*" ? Filter{"tag-key", {key}} : Filter{"tag:" + key, {value}});
  }
  if (!term.owner.empty()) {
    filters.push_back({"owner-id", {term.owner}});
  }
  if (!term.match_criteria.empty()) {
    filters.push_back({"instance-match-criteria", {term.match_criteria}});
  }
  return filters;
}

}  // namespace

bool ReservationLedger::set(const std::string& id, std::int64_t available) {
  const auto [found, added] = left_.try_emplace(id, available);
  const bool news = added || found->second != available;
  found->second = available;
  return news;
}

void ReservationLedger::take(const std::string& id) {
  if (const auto found = left_.find(id); found != left_.end() && found->second > 0) {
    --found->second;
  }
}

int ReservationLedger::left(std::string_view id) const {
  const auto found = left_.find(id);
  return found == left_.end() ? 0 : static_cast<int>(found->second);
}

base::Task<ApiResult<std::vector<Reservation>>> find_reservations(Api& api,
                                                                  std::vector<SelectorTerm> terms) {
  Ec2 ec2(api);
  std::vector<Reservation> found;
  for (const auto& term : terms) {
    std::vector<Filter> filters;
    std::vector<std::string> ids;
    if (term.id.empty()) {
      filters = filters_of(term);
    } else {
      ids.push_back(term.id);  // each by itself: one that is gone fails the whole call
    }
    auto answered = co_await ec2.reservations(std::move(filters), std::move(ids));
    if (!answered && answered.error().kind == base::ErrorKind::NotFound) {
      continue;
    }
    MW_CO_TRY(some, std::move(answered));
    found.insert(found.end(), some.begin(), some.end());
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.what.id < b.what.id; });
  found.erase(std::unique(found.begin(), found.end(),
                          [](const auto& a, const auto& b) { return a.what.id == b.what.id; }),
              found.end());
  co_return found;
}

bool Resolver::tell_reservations(ReservationLedger& ledger) {
  bool news = false;
  for (const auto& [id, left] : std::exchange(reserved_, {})) {
    news = ledger.set(id, left) || news;
  }
  return news;
}

void Resolver::keep_reservations(std::vector<Reservation> found,
                                 std::vector<ResolvedReservation>& into) {
  for (auto& each : found) {
    reserved_[each.what.id] = each.available;
    known_.insert(each.what.id);
    if (const auto end = base::parse_rfc3339(each.what.end_time); each.what.is_block() && end) {
      block_ends_[each.what.id] = *end;
    }
    into.push_back(std::move(each.what));
  }
}

std::set<std::string, std::less<>> Resolver::expiring_blocks(base::TimePoint now) const {
  std::set<std::string, std::less<>> expiring;
  for (const auto& [id, end] : block_ends_) {
    if (now >= end - kBlockEndsEarly && now < end) {
      expiring.insert(id);
    }
  }
  return expiring;
}

}  // namespace millwright::cloud::aws
