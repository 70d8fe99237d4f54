#include "cloud/alibaba/catalog/catalog_refresh.hpp"

namespace millwright::cloud::alibaba {
namespace {

constexpr base::Duration kTypesPeriod = std::chrono::hours(12);
constexpr base::Duration kStockPeriod = std::chrono::minutes(5);
constexpr base::Duration kPricesPeriod = std::chrono::hours(12);
constexpr base::Duration kSoonAgain = std::chrono::minutes(1);  // after a failure
constexpr base::Duration kKnownSoon = std::chrono::seconds(1);  // types come first
constexpr int kMostFailures = 5;  // then ECS is not asked for the other types' prices

}  // namespace

CatalogRefresh::CatalogRefresh(Parts parts)
    : parts_(std::move(parts)),
      ecs_(parts_.api),
      saved_({.prices = parts_.catalog.prices(),
              .environment = parts_.environment,
              .file = parts_.price_cache,
              .log = parts_.log}) {}

base::Task<void> CatalogRefresh::run_types(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool good = co_await refresh_types();
    co_await base::sleep(parts_.api.loop(), good ? kTypesPeriod : kSoonAgain, stop);
  }
}

base::Task<void> CatalogRefresh::run_stock(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool good = co_await refresh_stock();
    co_await base::sleep(parts_.api.loop(), good ? kStockPeriod : kSoonAgain, stop);
  }
}

base::Task<void> CatalogRefresh::run_prices(std::stop_token stop) {
  while (!parts_.catalog.is_known() && !stop.stop_requested()) {
    co_await base::sleep(parts_.api.loop(), kKnownSoon, stop);
  }
  while (!stop.stop_requested()) {
    const bool good = co_await refresh_prices(stop);
    co_await base::sleep(parts_.api.loop(), good ? kPricesPeriod : kSoonAgain, stop);
  }
}

base::Task<bool> CatalogRefresh::refresh_types() {
  auto types = co_await ecs_.instance_types();
  if (!types) {
    parts_.log.error("ECS's instance types could not be read", {{"error", types.error().message}});
    co_return false;
  }
  parts_.catalog.set_types(*std::move(types));
  parts_.catalog.changed();
  co_return true;
}

base::Task<bool> CatalogRefresh::refresh_stock() {
  auto on_demand = co_await ecs_.stock(false);
  if (!on_demand) {
    parts_.log.error("ECS's stock could not be read", {{"error", on_demand.error().message}});
    co_return false;
  }
  auto spot = co_await ecs_.stock(true);
  if (!spot) {
    parts_.log.error("ECS's stock of spot could not be read", {{"error", spot.error().message}});
    co_return false;
  }
  if (parts_.catalog.set_stock(*std::move(on_demand), *std::move(spot))) {
    parts_.catalog.changed();
  }
  co_return true;
}

base::Task<bool> CatalogRefresh::refresh_prices(std::stop_token stop) {
  // What was learned before stays for types that fail now.
  auto learned = parts_.catalog.prices().learned();
  int failures = 0;
  std::vector<std::string> names;
  for (const auto& type : parts_.catalog.all()) {
    if (parts_.catalog.is_sold(type.name)) {
      names.push_back(type.name);
    }
  }
  for (const auto& name : names) {
    if (stop.stop_requested() || failures == kMostFailures) {
      break;
    }
    auto history = co_await ecs_.spot_prices(name);
    auto on_demand = history ? history->on_demand : std::optional<double>();
    if (history) {
      learned.spot[name] = history->spot;
    }
    if (!on_demand) {
      auto listed = co_await ecs_.on_demand_price(name);
      if (listed) {
        on_demand = *listed;
      } else {
        ++failures;
        parts_.log.warn("the price of a type could not be read",
                        {{"type", name}, {"error", listed.error().message}});
      }
    }
    if (on_demand) {
      learned.on_demand[name] = *on_demand;
    }
  }
  parts_.catalog.prices().set_on_demand(std::move(learned.on_demand));
  parts_.catalog.prices().set_spot(std::move(learned.spot));
  saved_.save();
  parts_.catalog.changed();
  co_return failures == 0 && !names.empty();
}

}  // namespace millwright::cloud::alibaba
