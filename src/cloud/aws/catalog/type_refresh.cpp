#include "cloud/aws/catalog/type_refresh.hpp"

namespace millwright::cloud::aws {
namespace {

constexpr base::Duration kTypePeriod = std::chrono::hours(12);   // Karpenter's
constexpr base::Duration kTypesAgain = std::chrono::minutes(1);  // after a failure

}  // namespace

base::Task<void> TypeRefresh::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool good = co_await refresh();
    co_await base::sleep(loop_, good ? kTypePeriod : kTypesAgain, stop);
  }
}

base::Task<void> TypeRefresh::wait_until_known(base::Duration longest) {
  if (!catalog_.is_known()) {
    const std::stop_token never;
    co_await known_.wait(never, longest);
  }
}

base::Task<bool> TypeRefresh::refresh() {
  auto types = co_await ec2_.instance_types();
  if (!types) {
    log_.error("EC2's instance types could not be read", {{"error", types.error().message}});
    co_return false;
  }
  auto zones = co_await ec2_.type_zones();
  if (!zones) {
    log_.error("the zones of EC2's instance types could not be read",
               {{"error", zones.error().message}});
    co_return false;
  }
  catalog_.set_types(*std::move(types));
  catalog_.set_zones(*std::move(zones));
  catalog_.changed();
  if (catalog_.is_known()) {
    known_.notify();
  }
  co_return catalog_.is_known();
}

}  // namespace millwright::cloud::aws
