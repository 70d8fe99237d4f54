#include "cloud/aws/health/reservation_watch.hpp"

#include "cloud/aws/launch/launch_request.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

constexpr base::Duration kReservationPeriod = std::chrono::minutes(1);  // Karpenter's

std::vector<SelectorTerm> terms_for(const std::vector<std::string>& ids) {
  std::vector<SelectorTerm> terms(ids.size());
  std::transform(ids.begin(), ids.end(), terms.begin(), [](const std::string& id) {
    SelectorTerm term;
    term.id = id;
    return term;
  });
  return terms;
}

}  // namespace

base::Task<void> ReservationWatch::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    co_await base::sleep(parts_.api.loop(), kReservationPeriod, stop);
    if (!stop.stop_requested()) {
      co_await count();
    }
    if (!stop.stop_requested() &&
        !parts_.reservations.expiring_blocks(parts_.api.loop().now()).empty()) {
      co_await end_expiring_blocks();
    }
  }
}

base::Task<void> ReservationWatch::count() {
  const auto ids = parts_.reservations.ids();
  if (ids.empty()) {
    co_return;
  }
  std::vector<Filter> no_filters;
  auto found = co_await ec2_.reservations(std::move(no_filters), ids);
  if (!found && found.error().kind == base::ErrorKind::NotFound) {
    // EC2 refuses the whole call for one that was deleted: ask for each by itself.
    found = co_await find_reservations(parts_.api, terms_for(ids));
  }
  if (!found) {
    parts_.log.warn("capacity reservations could not be counted, will try again",
                    {{"error", found.error().message}});
    co_return;
  }
  std::map<std::string, std::int64_t> left;
  for (const auto& each : *found) {
    left[each.reservation.id] = each.available;
  }
  bool changed = false;
  for (const auto& id : ids) {
    const auto counted = left.find(id);
    if (counted == left.end()) {
      parts_.reservations.forget(id);
    }
    const auto available = counted == left.end() ? 0 : counted->second;
    changed = parts_.catalog.reservations().set(id, available) || changed;
  }
  if (changed) {
    parts_.catalog.changed();
  }
}

base::Task<void> ReservationWatch::end_expiring_blocks() {
  const std::vector<Filter> filters{{"tag:" + std::string(kClusterTag), {parts_.cluster_name}},
                                    {"instance-state-name", {"pending", "running"}}};
  auto found = co_await ec2_.instances(filters);
  if (!found) {
    parts_.log.warn("instances in capacity blocks could not be read, will try again",
                    {{"error", found.error().message}});
    co_return;
  }
  const auto expiring = parts_.reservations.expiring_blocks(parts_.api.loop().now());
  for (const auto& instance : *found) {
    if (expiring.contains(instance.reservation_id)) {
      // What nobody could act on is told again in a minute.
      co_await parts_.tell(InterruptionKind::BlockExpiring, instance.zone, instance.id);
    }
  }
}

}  // namespace millwright::cloud::aws
