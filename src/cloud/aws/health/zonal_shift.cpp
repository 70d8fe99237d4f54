#include "cloud/aws/health/zonal_shift.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;

constexpr base::Duration kShiftPeriod = std::chrono::seconds(30);
// After NotFound (zonal shift is not enabled for the cluster) and Denied: somebody may change that.
constexpr base::Duration kShiftAgain = std::chrono::minutes(5);
// In the year 2096: shifts last for days, so that a later time is a mistake.
constexpr double kLatestShiftEnd = 4e9;

// Seconds since 1970, as REST-JSON writes times.
base::TimePoint time_at(const json::value& object, std::string_view key) {
  const auto* found = model::find_path(object, key);
  const double seconds = found == nullptr || !found->is_number() ? 0 : found->to_number<double>();
  const std::chrono::duration<double> since(std::clamp(seconds, 0.0, kLatestShiftEnd));
  return base::TimePoint(std::chrono::duration_cast<base::Duration>(since));
}

ShiftedZones read_shifts(const json::value& answer, base::TimePoint now) {
  ShiftedZones zones;
  const auto* list = model::find_path(answer, "zonalShifts");
  if (list == nullptr || !list->is_array()) {
    return zones;
  }
  for (const auto& shift : list->get_array()) {
    const auto zone = model::text_at(shift, "awayFrom");
    const auto until = time_at(shift, "expiryTime");
    if (!zone.empty() && model::text_at(shift, "appliedStatus") == "APPLIED" && until > now) {
      auto& latest = zones[std::string(zone)];
      latest = std::max(latest, until);
    }
  }
  return zones;
}

std::string names_of(const ShiftedZones& zones) {
  std::string names;
  for (const auto& [zone, until] : zones) {
    names += (names.empty() ? "" : ", ") + zone;
  }
  return names.empty() ? "none" : names;
}

}  // namespace

base::Task<ApiResult<ShiftedZones>> shifted_zones(Api& api, std::string cluster_arn) {
  MW_CO_TRY(answer, co_await api.get(Service::ArcZonalShift, "GetManagedResource",
                                     "/managedresources/" + net::url_encode(cluster_arn)));
  co_return read_shifts(answer, api.loop().now());
}

base::Task<void> ZonalShifts::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto pause = co_await refresh();
    co_await base::sleep(parts_.api.loop(), pause, stop);
  }
}

base::Task<base::Duration> ZonalShifts::refresh() {
  auto arn = co_await parts_.cluster.arn();
  if (!arn) {
    parts_.log.error("zonal shifts cannot be asked for without the EKS cluster's ARN",
                     {{"error", arn.error().message}});
    co_return kShiftPeriod;
  }
  auto zones = co_await shifted_zones(parts_.api, *arn);
  if (!zones) {
    const auto kind = zones.error().kind;
    const bool lasting = kind == base::ErrorKind::NotFound || kind == base::ErrorKind::Denied;
    parts_.log.error(
        "zonal shifts could not be read; enable zonal shift for the EKS cluster, or leave "
        "--enable-zonal-shift out",
        {{"error", zones.error().message}});
    co_return lasting ? kShiftAgain : kShiftPeriod;
  }
  const auto names = names_of(*zones);
  if (parts_.catalog.unavailable().set_shifted(*std::move(zones))) {
    parts_.log.info("zonal shifts have changed", {{"away_from", names}});
    parts_.restock.marked();
  }
  co_return kShiftPeriod;
}

}  // namespace millwright::cloud::aws
