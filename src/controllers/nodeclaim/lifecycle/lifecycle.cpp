#include "millwright/controllers/nodeclaim/lifecycle.hpp"

#include "controllers/nodeclaim/lifecycle/initialization.hpp"
#include "controllers/nodeclaim/lifecycle/launch.hpp"
#include "controllers/nodeclaim/lifecycle/liveness.hpp"
#include "controllers/nodeclaim/lifecycle/registration.hpp"
#include "controllers/termination/finalization.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

// Tried again, with backoff, until the claim has had its time: then its pods are planned anew.
base::Task<base::Result<Requeue>> retry_launch(Services& services, ClaimPtr claim,
                                               base::Error error) {
  const auto record = services.state.find_claim(claim->meta.name);
  if (record && record->claim->meta.uid == claim->meta.uid && !record->claim->meta.is_deleting()) {
    MW_CO_TRY(left, co_await check_liveness(services, record->claim));
    if (!left) {
      co_return Requeue{};
    }
  }
  co_return tl::unexpected(std::move(error));
}

}  // namespace

Lifecycle::Lifecycle(Services& services)
    : services_(services),
      failures_(std::make_unique<LaunchFailures>(services)),
      reconciler_(
          reconciler_context(services, "nodeclaim.lifecycle", "NodeClaim"),
          [this](std::string claim, base::Logger log, std::stop_token stop) {
            return reconcile(std::move(claim), std::move(log), std::move(stop));
          },
          ReconcilerOptions{.max_concurrent = 1000,
                            .min_backoff = std::chrono::seconds(1),
                            .max_backoff = std::chrono::seconds(60)}) {}
Lifecycle::~Lifecycle() = default;

base::Task<base::Result<Requeue>> Lifecycle::reconcile(std::string name, base::Logger log,
                                                       std::stop_token stop) {
  Services services = services_.logging_to(std::move(log));
  const auto record = services.state.find_claim(name);
  if (!record || !is_managed(services, record->claim->node_class_ref)) {
    co_return Requeue{};
  }
  if (record->claim->meta.is_deleting()) {
    co_return co_await finalize_claim(services, record);
  }
  auto launched = co_await launch(services, failures_.get(), record->claim);
  if (stop.stop_requested()) {
    co_return Requeue{};  // it is another leader's now
  }
  if (!launched) {
    co_return co_await retry_launch(services, record->claim, std::move(launched).error());
  }
  if (!*launched) {
    co_return Requeue{};  // the claim was given up
  }
  MW_CO_TRY(registered, co_await register_node(services, *launched));
  MW_CO_TRY(initialized, co_await initialize_node(services, registered));
  co_return co_await check_liveness(services, initialized);
}

}  // namespace millwright::controllers
