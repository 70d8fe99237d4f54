#include "controllers/nodeclaim/lifecycle/liveness.hpp"

#include "millwright/controllers/pools/registration_health.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

base::TimePoint since(const ClaimPtr& claim, std::string_view type) {
  const auto* found = condition(claim, type);
  if (found != nullptr && found->last_transition_time) {
    return *found->last_transition_time;
  }
  return claim->meta.creation_timestamp.value_or(base::TimePoint{});
}

// A machine's time to join begins with its launch, and once more where its Node was deleted by
// force. The claim's creation says less: the launch may have been tried for minutes, and that time
// is the API server's, which this process may never have been told. A launch in the future was
// noted by one whose clock was wrong.
base::TimePoint awaits_node_since(const ClaimPtr& claim, base::TimePoint now) {
  const base::TimePoint launched = since(claim, model::kLaunched);
  const base::TimePoint registered = since(claim, model::kRegistered);
  return launched <= now ? std::max(launched, registered) : registered;
}

}  // namespace

base::Task<base::Result<Requeue>> check_liveness(Services& services, ClaimPtr claim) {
  if (model::is_true(claim->conditions, model::kRegistered)) {
    co_return Requeue{};
  }
  const bool launched = model::is_true(claim->conditions, model::kLaunched);
  const base::TimePoint now = services.loop.now();
  const base::TimePoint deadline =
      launched ? awaits_node_since(claim, now) + services.options.registration_timeout
               : since(claim, model::kLaunched) + services.options.launch_timeout;
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
