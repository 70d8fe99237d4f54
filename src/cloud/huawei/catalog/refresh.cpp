#include "cloud/huawei/catalog/refresh.hpp"

namespace millwright::cloud::huawei {
namespace {

constexpr base::Duration kRefreshPeriod = std::chrono::hours(12);  // Karpenter's
constexpr base::Duration kRefreshAgain = std::chrono::minutes(1);  // after a failure

}  // namespace

CatalogRefresh::CatalogRefresh(Parts parts)
    : parts_(std::move(parts)),
      saved_({.prices = parts_.catalog.prices(),
              .environment = parts_.environment,
              .file = parts_.price_cache,
              .log = parts_.log}) {}

base::Task<void> CatalogRefresh::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    bool good = co_await refresh_flavors();
    if (parts_.catalog.is_known()) {
      const bool priced = co_await refresh_prices();
      good = good && priced;
    }
    co_await base::sleep(parts_.api.loop(), good ? kRefreshPeriod : kRefreshAgain, stop);
  }
}

base::Task<bool> CatalogRefresh::refresh_flavors() {
  auto flavors = co_await list_flavors(parts_.api);
  if (!flavors) {
    parts_.log.error("Huawei Cloud's flavors could not be read",
                     {{"error", flavors.error().message}});
    co_return false;
  }
  auto zones = co_await list_zones(parts_.api);
  if (!zones) {
    parts_.log.error("Huawei Cloud's zones could not be read", {{"error", zones.error().message}});
    co_return false;
  }
  parts_.catalog.set_flavors(*std::move(flavors));
  parts_.catalog.set_zones(*std::move(zones));
  parts_.catalog.changed();
  co_return parts_.catalog.is_known();
}

base::Task<bool> CatalogRefresh::refresh_prices() {
  auto prices = co_await list_prices(parts_.api, parts_.catalog.names_on_sale());
  if (!prices) {
    parts_.log.error("prices could not be read; the last known or estimates serve",
                     {{"error", prices.error().message}});
    co_return false;
  }
  auto& known = parts_.catalog.prices();
  if (!prices->refused.empty()) {
    parts_.log.warn("flavors have no price; the last known serve",
                    {{"flavors", std::to_string(prices->refused.size())},
                     {"first", prices->refused.front()},
                     {"error", prices->refusal}});
    const auto learned = known.learned();
    for (const auto& flavor : prices->refused) {
      const auto last = learned.on_demand.find(flavor);
      if (last != learned.on_demand.end()) {
        prices->prices.insert(*last);
      }
    }
  }
  known.set_on_demand(std::move(prices->prices));
  saved_.save();
  parts_.catalog.changed();
  co_return true;
}

}  // namespace millwright::cloud::huawei
