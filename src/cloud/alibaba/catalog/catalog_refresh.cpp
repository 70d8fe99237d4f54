#include "cloud/alibaba/catalog/catalog_refresh.hpp"

#include <set>
#include <utility>

namespace millwright::cloud::alibaba {
namespace {

constexpr base::Duration kTypesPeriod = std::chrono::hours(12);
constexpr base::Duration kStockPeriod = std::chrono::minutes(5);
constexpr base::Duration kPricesPeriod = std::chrono::hours(12);
constexpr base::Duration kSoonAgain = std::chrono::minutes(1);  // after a failure
constexpr base::Duration kKnownSoon = std::chrono::seconds(1);  // types come first
constexpr std::size_t kMostFailures = 5;  // then the other types' prices are left for later

using base::ErrorKind;

// ECS, or the way to it, is to blame, and not the type.
bool may_pass(const ApiError& error) {
  return error.kind == ErrorKind::Throttled || error.kind == ErrorKind::Unavailable ||
         error.kind == ErrorKind::Timeout;
}

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
  if (ecs_.unread_types() > 0) {
    add_known(*types);  // nodes of a type that is gone would drift
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

void CatalogRefresh::add_known(std::vector<TypeFacts>& types) const {
  std::set<std::string> told;
  for (const auto& type : types) {
    told.insert(type.name);
  }
  for (const auto& type : parts_.catalog.all()) {
    if (!told.contains(type.name)) {
      types.push_back(type);
    }
  }
}

std::vector<std::string> CatalogRefresh::names_sold() const {
  std::vector<std::string> names;
  for (const auto& type : parts_.catalog.all()) {
    if (parts_.catalog.is_sold(type.name)) {
      names.push_back(type.name);
    }
  }
  return names;
}

base::Task<CatalogRefresh::Found> CatalogRefresh::read_prices(std::string type) {
  Found found;
  auto history = co_await ecs_.spot_prices(type);
  found.has_spot = history.has_value();
  if (history) {
    found.prices = *std::move(history);
  } else {
    found.is_whole = !may_pass(history.error());
  }
  if (found.prices.on_demand) {
    co_return found;
  }
  auto listed = co_await ecs_.on_demand_price(type);
  if (listed) {
    found.prices.on_demand = *listed;
  } else {
    const auto& error = listed.error();
    // Keys or a policy may be mended any minute.
    found.is_whole = found.is_whole && !may_pass(error) && error.kind != ErrorKind::Denied;
    parts_.log.warn("the price of a type could not be read",
                    {{"type", type}, {"error", error.message}});
  }
  co_return found;
}

base::Task<bool> CatalogRefresh::refresh_prices(std::stop_token stop) {
  const auto now = parts_.api.loop().now();
  if (unread_.empty() || now >= all_again_) {
    unread_ = names_sold();
    all_again_ = now + kPricesPeriod;
  }
  const auto names = std::exchange(unread_, {});
  // What was learned before stays for types that fail now.
  auto learned = parts_.catalog.prices().learned();
  std::vector<std::string> failed;
  auto name = names.begin();
  for (; name != names.end() && failed.size() < kMostFailures && !stop.stop_requested(); ++name) {
    auto found = co_await read_prices(*name);
    if (found.has_spot) {
      learned.spot[*name] = std::move(found.prices.spot);
    }
    if (found.prices.on_demand) {
      learned.on_demand[*name] = *found.prices.on_demand;
    }
    if (!found.is_whole) {
      failed.push_back(*name);
    }
  }
  unread_.assign(name, names.end());
  unread_.insert(unread_.end(), failed.begin(), failed.end());
  parts_.catalog.prices().set_on_demand(std::move(learned.on_demand));
  parts_.catalog.prices().set_spot(std::move(learned.spot));
  saved_.save();
  parts_.catalog.changed();
  co_return unread_.empty() && !names.empty();
}

}  // namespace millwright::cloud::alibaba
