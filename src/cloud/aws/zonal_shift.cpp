#include "cloud/aws/zonal_shift.hpp"

#include "cloud/aws/aws_cloud.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;

constexpr base::Duration kShiftPeriod = std::chrono::seconds(30);
// While it is not allowed or not enabled for the cluster: somebody may change that.
constexpr base::Duration kShiftAgain = std::chrono::minutes(5);
// Shifts last for days; a number far beyond is no time.
constexpr double kLatest = 4e9;

// Seconds since 1970, as REST-JSON writes times.
base::TimePoint time_at(const json::value& object, std::string_view key) {
  const auto* found = model::find_path(object, key);
  const double seconds = found == nullptr || !found->is_number() ? 0 : found->to_number<double>();
  const std::chrono::duration<double> since(std::clamp(seconds, 0.0, kLatest));
  return base::TimePoint(std::chrono::duration_cast<base::Duration>(since));
}

ShiftedZones read_shifts(const json::value& answer, base::TimePoint now) {
  ShiftedZones zones;
  const auto* list = model::find_path(answer, "zonalShifts");
  if (list == nullptr || !list->is_array()) {
    return zones;
  }
  for (const auto& shift : list->get_array()) {
    const auto zone = json_text(shift, "awayFrom");
    const auto until = time_at(shift, "expiryTime");
    if (!zone.empty() && json_text(shift, "appliedStatus") == "APPLIED" && until > now) {
      auto& latest = zones[zone];
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
  auto answered = co_await api.get(Service::ArcZonalShift, "GetManagedResource",
                                   "/managedresources/" + net::url_encode(cluster_arn));
  MW_CO_TRY(answer, std::move(answered));
  co_return read_shifts(answer, api.loop().now());
}

base::Task<base::Duration> AwsCloud::refresh_zonal_shifts() {
  if (cluster_arn_.empty()) {
    auto described = co_await describe_cluster(api_, parts_.settings.cluster_name);
    if (!described) {
      parts_.log.error("zonal shifts cannot be asked for without the EKS cluster's ARN",
                       {{"error", described.error().message}});
      co_return kShiftPeriod;
    }
    cluster_arn_ = described->arn;
  }
  auto asked = co_await shifted_zones(api_, cluster_arn_);
  if (!asked) {
    const auto kind = asked.error().kind;
    const bool lasting = kind == base::ErrorKind::NotFound || kind == base::ErrorKind::Denied;
    parts_.log.error(
        "zonal shifts could not be read; enable zonal shift for the EKS cluster, or leave "
        "--enable-zonal-shift out",
        {{"error", asked.error().message}});
    co_return lasting ? kShiftAgain : kShiftPeriod;
  }
  const auto names = names_of(*asked);
  if (catalog_.unavailable().set_shifted(*std::move(asked))) {
    parts_.log.info("zonal shifts have changed", {{"away_from", names}});
    catalog_.touch();
    sold_out_.notify();
    catalog_changed();
  }
  co_return kShiftPeriod;
}

base::Task<void> AwsCloud::keep_zonal_shifts(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto pause = co_await refresh_zonal_shifts();
    co_await base::sleep(parts_.loop, pause, stop);
  }
}

}  // namespace millwright::cloud::aws
