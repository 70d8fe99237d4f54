#include "millwright/controllers/lifecycle.hpp"

#include "controllers/finalization.hpp"
#include "controllers/initialization.hpp"
#include "controllers/launch.hpp"
#include "controllers/liveness.hpp"
#include "controllers/registration.hpp"

#include <algorithm>

namespace millwright::controllers {

Lifecycle::Lifecycle(Services& services)
    : services_(services),
      reconciler_(
          services.loop, "nodeclaim.lifecycle",
          [this](std::string claim, std::stop_token stop) {
            return reconcile(std::move(claim), std::move(stop));
          },
          services.log.named("nodeclaim.lifecycle"), services.metrics,
          ReconcilerOptions{.max_concurrent = 1000,
                            .min_backoff = std::chrono::seconds(1),
                            .max_backoff = std::chrono::seconds(60)}) {}

base::Task<base::Result<Requeue>> Lifecycle::reconcile(std::string name, std::stop_token stop) {
  const auto record = services_.state.find_claim(name);
  if (!record || !is_managed(services_, record->claim->node_class_ref)) {
    co_return Requeue{};
  }
  if (record->claim->meta.is_deleting()) {
    auto finalized = co_await finalize_claim(services_, record);
    co_return finalized;
  }
  auto launched = co_await launch(services_, record->claim);
  MW_CO_TRY(launch_outcome, std::move(launched));
  if (!launch_outcome || stop.stop_requested()) {
    co_return Requeue{};  // the claim was given up, or it is another leader's now
  }
  auto registered = co_await register_node(services_, launch_outcome);
  MW_CO_TRY(registered_claim, std::move(registered));
  auto initialized = co_await initialize_node(services_, registered_claim);
  MW_CO_TRY(initialized_claim, std::move(initialized));
  auto live = co_await check_liveness(services_, initialized_claim);
  co_return live;
}

}  // namespace millwright::controllers
