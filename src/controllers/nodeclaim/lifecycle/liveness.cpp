#include "controllers/nodeclaim/lifecycle/liveness.hpp"

#include "millwright/controllers/pools/registration_health.hpp"

namespace millwright::controllers {
namespace {

base::TimePoint since(const ClaimPtr& claim, std::string_view type) {
  const auto* found = condition(claim, type);
  if (found != nullptr && found->last_transition_time) {
    return *found->last_transition_time;
  }
  return claim->meta.creation_timestamp.value_or(base::TimePoint{});
}

}  // namespace

base::Task<base::Result<Requeue>> check_liveness(Services& services, ClaimPtr claim) {
  if (model::is_true(claim->conditions, model::kRegistered)) {
    co_return Requeue{};
  }
  const bool launched = model::is_true(claim->conditions, model::kLaunched);
  const base::TimePoint deadline =
      launched ? since(claim, model::kRegistered) + services.options.registration_timeout
               : since(claim, model::kLaunched) + services.options.launch_timeout;
  const base::TimePoint now = services.loop.now();
  if (now < deadline) {
    co_return Requeue{deadline - now};
  }
  MW_CO_CHECK(
      co_await delete_claim(services, claim, launched ? "registration_timeout" : "launch_timeout"));
  const auto pool = find_pool(*services.state.snapshot(), claim->meta.label(model::kNodePoolLabel));
  const bool registered_once = !claim->node_name.empty();  // and its Node was deleted by force
  if (pool && !registered_once) {
    services.registration_health.failed(*pool, *claim);
  }
  co_return Requeue{};
}

}  // namespace millwright::controllers
