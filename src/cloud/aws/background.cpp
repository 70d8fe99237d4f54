// What the provider does by itself: types, prices, launch templates, offerings back in stock.
#include "cloud/aws/aws_cloud.hpp"
#include "cloud/aws/services.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

// Karpenter's periods.
constexpr base::Duration kCatalogPeriod = std::chrono::hours(12);
constexpr base::Duration kPricePeriod = std::chrono::hours(12);
constexpr base::Duration kReservationPeriod = std::chrono::minutes(1);
constexpr base::Duration kTemplatePeriod = std::chrono::minutes(5);
// After a refresh that failed.
constexpr base::Duration kAgain = std::chrono::minutes(1);

}  // namespace

base::Task<bool> AwsCloud::refresh_catalog() {
  auto types = co_await ec2_.instance_types();
  if (!types) {
    parts_.log.error("EC2's instance types could not be read", {{"error", types.error().message}});
    co_return false;
  }
  auto zones = co_await ec2_.type_zones();
  if (!zones) {
    parts_.log.error("the zones of EC2's instance types could not be read",
                     {{"error", zones.error().message}});
    co_return false;
  }
  catalog_.set_types(*std::move(types));
  catalog_.set_zones(*std::move(zones));
  catalog_changed();
  if (catalog_.is_known()) {
    catalog_known_.notify();
  }
  co_return catalog_.is_known();
}

// What AWS said last before this process was started.
void AwsCloud::recall_prices() {
  const auto& path = parts_.settings.price_cache;
  if (path.empty()) {
    return;
  }
  const auto text = parts_.surroundings.read_file(path);
  if (!text) {
    if (text.error().kind != base::ErrorKind::NotFound) {
      parts_.log.warn("the kept prices cannot be read", {{"error", text.error().message}});
    }
    return;
  }
  auto kept = parse_price_file(*text, path);
  if (!kept) {
    parts_.log.warn("the kept prices are damaged and were left aside",
                    {{"error", kept.error().message}});
    return;
  }
  catalog_.prices().set_on_demand(std::move(kept->on_demand));
  catalog_.prices().set_spot(std::move(kept->spot));
}

void AwsCloud::keep_learned_prices() {
  const auto& path = parts_.settings.price_cache;
  if (path.empty() || !parts_.surroundings.write_file) {
    return;
  }
  const auto text = write_price_file(catalog_.prices().learned());
  const auto written = parts_.surroundings.write_file(path, text);
  if (!written) {
    parts_.log.warn("prices cannot be kept for the next start",
                    {{"error", written.error().message}});
  }
}

base::Task<bool> AwsCloud::refresh_prices() {
  bool good = true;
  if (!parts_.settings.isolated_vpc && parts_.endpoints.has_price_list()) {
    auto listed = co_await list_prices(api_);
    if (listed) {
      catalog_.prices().set_on_demand(*std::move(listed));
    } else {
      good = false;
      parts_.log.error(
          "on-demand prices could not be read; the last known, the price file or estimates serve",
          {{"error", listed.error().message}});
    }
  }
  auto spot = co_await ec2_.spot_prices();
  if (spot) {
    catalog_.prices().set_spot(*std::move(spot));
  } else {
    good = false;
    parts_.log.error("spot prices could not be read", {{"error", spot.error().message}});
  }
  keep_learned_prices();
  catalog_.touch();
  catalog_changed();
  co_return good;
}

base::Task<void> AwsCloud::keep_catalog(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool good = co_await refresh_catalog();
    co_await base::sleep(parts_.loop, good ? kCatalogPeriod : kAgain, stop);
  }
}

base::Task<void> AwsCloud::keep_prices(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool good = co_await refresh_prices();
    co_await base::sleep(parts_.loop, good ? kPricePeriod : kAgain, stop);
  }
}

base::Task<void> AwsCloud::keep_templates(std::stop_token stop) {
  while (!stop.stop_requested()) {
    co_await base::sleep(parts_.loop, kTemplatePeriod, stop);
    if (!stop.stop_requested()) {
      co_await launcher_.templates().collect();
    }
  }
}

// Offerings that were sold out are tried again when their time is over.
base::Task<void> AwsCloud::restock(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::optional<base::Duration> wait;
    if (const auto end = catalog_.unavailable().next_end()) {
      wait = std::max(*end - parts_.loop.now(), base::Duration::zero());
    }
    co_await sold_out_.wait(stop, wait);
    if (catalog_.unavailable().sweep(parts_.loop.now())) {
      catalog_.touch();
      catalog_changed();
    }
  }
}

// Nodes in a capacity block are drained before EC2 ends them with it.
base::Task<void> AwsCloud::end_expiring_blocks() {
  const std::vector<Filter> filters{
      {"tag:" + std::string(kClusterTag), {parts_.settings.cluster_name}},
      {"instance-state-name", {"pending", "running"}}};
  auto found = co_await ec2_.instances(filters);
  if (!found) {
    parts_.log.warn("instances in capacity blocks could not be read, will try again",
                    {{"error", found.error().message}});
    co_return;
  }
  const auto expiring = resolver_.expiring_blocks(parts_.loop.now());
  for (const auto& instance : *found) {
    if (expiring.contains(instance.reservation_id)) {
      tell(InterruptionKind::BlockExpiring, instance.zone, instance.id);
    }
  }
}

// Others use reservations too: how many instances are left changes without a launch of ours.
base::Task<void> AwsCloud::recount_reservations() {
  const auto ids = resolver_.reservation_ids();
  if (ids.empty()) {
    co_return;
  }
  std::vector<Filter> no_filters;
  auto found = co_await ec2_.reservations(std::move(no_filters), ids);
  if (!found && found.error().kind == base::ErrorKind::NotFound) {
    // One that was deleted hides the others.
    std::vector<SelectorTerm> terms(ids.size());
    std::transform(ids.begin(), ids.end(), terms.begin(), [](const std::string& id) {
      SelectorTerm term;
      term.id = id;
      return term;
    });
    found = co_await find_reservations(api_, std::move(terms));
  }
  if (!found) {
    parts_.log.warn("capacity reservations could not be counted, will try again",
                    {{"error", found.error().message}});
    co_return;
  }
  std::map<std::string, std::int64_t> left;
  for (const auto& each : *found) {
    left[each.what.id] = each.available;
  }
  bool news = false;
  for (const auto& id : ids) {
    const auto counted = left.find(id);
    if (counted == left.end()) {
      resolver_.reservation_ended(id);
    }
    const auto available = counted == left.end() ? 0 : counted->second;
    news = catalog_.reservations().set(id, available) || news;
  }
  if (news) {
    catalog_.touch();
    catalog_changed();
  }
}

base::Task<void> AwsCloud::watch_reservations(std::stop_token stop) {
  while (!stop.stop_requested()) {
    co_await base::sleep(parts_.loop, kReservationPeriod, stop);
    if (!stop.stop_requested()) {
      co_await recount_reservations();
    }
    if (!stop.stop_requested() && !resolver_.expiring_blocks(parts_.loop.now()).empty()) {
      co_await end_expiring_blocks();
    }
  }
}

base::Task<void> AwsCloud::run(std::stop_token stop) {
  base::TaskGroup group(parts_.loop);
  group.spawn(keep_catalog(stop));
  group.spawn(keep_prices(stop));
  group.spawn(restock(stop));
  if (parts_.settings.enable_zonal_shift) {
    group.spawn(keep_zonal_shifts(stop));
  }
  co_await group.join();
}

Provider::Reply<> AwsCloud::release(NodeClassPtr node_class) {
  auto listed = co_await instance_profiles(api_, resolver_.profile_path(*node_class));
  MW_CO_TRY(profiles, std::move(listed));
  for (const auto& profile : profiles) {
    auto deleted = co_await delete_instance_profile(api_, profile);
    if (!deleted) {
      co_return tl::unexpected<base::Error>(std::move(deleted).error());
    }
  }
  auto deleted = co_await launcher_.templates().remove_all_of(node_class->meta.name);
  if (!deleted) {
    co_return tl::unexpected<base::Error>(std::move(deleted).error());
  }
  co_return base::Result<>{};
}

base::Task<void> AwsCloud::lead(std::stop_token stop) {
  launcher_.inherit(parts_.loop.now());
  base::TaskGroup group(parts_.loop);
  group.spawn(keep_templates(stop));
  group.spawn(watch_reservations(stop));
  group.spawn(watch_health(stop));
  if (!parts_.settings.interruption_queue.empty()) {
    group.spawn(keep_listening(stop));
  }
  co_await group.join();
}

}  // namespace millwright::cloud::aws
