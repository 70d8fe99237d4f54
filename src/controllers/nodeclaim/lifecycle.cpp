#include "millwright/controllers/nodeclaim/lifecycle.hpp"

#include "controllers/nodeclaim/initialization.hpp"
#include "controllers/nodeclaim/launch.hpp"
#include "controllers/nodeclaim/liveness.hpp"
#include "controllers/nodeclaim/registration.hpp"
#include "controllers/termination/finalization.hpp"

#include <algorithm>

namespace millwright::controllers {

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
  MW_CO_TRY(launched, co_await launch(services, failures_.get(), record->claim));
  if (!launched || stop.stop_requested()) {
    co_return Requeue{};  // the claim was given up, or it is another leader's now
  }
  MW_CO_TRY(registered, co_await register_node(services, launched));
  MW_CO_TRY(initialized, co_await initialize_node(services, registered));
  co_return co_await check_liveness(services, initialized);
}

}  // namespace millwright::controllers
