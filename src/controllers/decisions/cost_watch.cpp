#include "millwright/controllers/process/cost_watch.hpp"

#include "millwright/telemetry/cost_ledger.hpp"

namespace millwright::controllers {
namespace {

constexpr auto kCostPause = std::chrono::seconds(10);

}  // namespace

base::Task<void> run_cost_watch(Services& services, std::stop_token stop) {
  telemetry::CostLedger ledger(services.metrics);
  while (!stop.stop_requested()) {
    const auto snapshot = services.state.snapshot();
    ledger.look(*snapshot, catalog_of(services, *snapshot), services.loop.now());
    co_await base::sleep(services.loop, kCostPause, stop);
  }
}

}  // namespace millwright::controllers
