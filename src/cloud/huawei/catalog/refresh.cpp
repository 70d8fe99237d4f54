#include "cloud/huawei/catalog/refresh.hpp"

namespace millwright::cloud::huawei {
namespace {

constexpr base::Duration kRefreshPeriod = std::chrono::hours(12);  // Karpenter's
constexpr base::Duration kRefreshAgain = std::chrono::minutes(1);  // after a failure

}  // namespace

base::Task<void> CatalogRefresh::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    bool good = co_await refresh_flavors();
    if (catalog_.is_known()) {
      const bool priced = co_await refresh_prices();
      good = good && priced;
    }
    co_await base::sleep(api_.loop(), good ? kRefreshPeriod : kRefreshAgain, stop);
  }
}

base::Task<bool> CatalogRefresh::refresh_flavors() {
  auto flavors = co_await list_flavors(api_);
  if (!flavors) {
    log_.error("Huawei Cloud's flavors could not be read", {{"error", flavors.error().message}});
    co_return false;
  }
  auto zones = co_await list_zones(api_);
  if (!zones) {
    log_.error("Huawei Cloud's zones could not be read", {{"error", zones.error().message}});
    co_return false;
  }
  catalog_.set_flavors(*std::move(flavors));
  catalog_.set_zones(*std::move(zones));
  catalog_.changed();
  co_return catalog_.is_known();
}

base::Task<bool> CatalogRefresh::refresh_prices() {
  auto prices = co_await list_prices(api_, catalog_.names_on_sale());
  if (!prices) {
    log_.error("prices could not be read; the last known or estimates serve",
               {{"error", prices.error().message}});
    co_return false;
  }
  catalog_.prices().set_on_demand(*std::move(prices));
  catalog_.changed();
  co_return true;
}

}  // namespace millwright::cloud::huawei
