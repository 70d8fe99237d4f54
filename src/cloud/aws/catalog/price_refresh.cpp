#include "cloud/aws/catalog/price_refresh.hpp"

namespace millwright::cloud::aws {
namespace {

constexpr base::Duration kPricePeriod = std::chrono::hours(12);   // Karpenter's
constexpr base::Duration kPricesAgain = std::chrono::minutes(1);  // after a failure

}  // namespace

base::Task<void> PriceRefresh::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool good = co_await refresh();
    co_await base::sleep(parts_.api.loop(), good ? kPricePeriod : kPricesAgain, stop);
  }
}

base::Task<bool> PriceRefresh::refresh() {
  bool good = true;
  auto& prices = parts_.catalog.prices();
  if (!parts_.isolated_vpc && parts_.api.endpoints().has_price_list()) {
    auto listed = co_await list_prices(parts_.api);
    if (listed) {
      prices.set_on_demand(*std::move(listed));
    } else {
      good = false;
      parts_.log.error(
          "on-demand prices could not be read; the last known, the price file or estimates serve",
          {{"error", listed.error().message}});
    }
  }
  auto spot = co_await ec2_.spot_prices();
  if (spot) {
    prices.set_spot(*std::move(spot));
  } else {
    good = false;
    parts_.log.error("spot prices could not be read", {{"error", spot.error().message}});
  }
  saved_.save();
  parts_.catalog.changed();
  co_return good;
}

}  // namespace millwright::cloud::aws
