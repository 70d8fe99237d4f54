#include "millwright/controllers/pools/static_capacity.hpp"

#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/disruption/static_capacity.hpp"
#include "millwright/scheduling/static_claims.hpp"

namespace millwright::controllers {
namespace {

constexpr auto kStaticPoolResync = std::chrono::minutes(1);
constexpr auto kLookAgainAtLimit = std::chrono::seconds(30);
constexpr auto kAwaitSync = std::chrono::seconds(1);

}  // namespace

StaticCapacity::StaticCapacity(Services& services)
    : services_(services),
      reconciler_(
          reconciler_context(services, "static.provisioning", "NodePool"),
          [this](std::string pool, base::Logger log, std::stop_token) {
            return reconcile(std::move(pool), std::move(log));
          },
          ReconcilerOptions{.max_concurrent = 10}) {}

// One task per pool at a time, and claims count from their creation on: what is counted here is
// what there is, whoever led before.
base::Task<base::Result<Requeue>> StaticCapacity::reconcile(std::string name, base::Logger log) {
  Services services = services_.logging_to(std::move(log));
  const auto snapshot = services.state.snapshot();
  const auto pool = find_pool(*snapshot, name);
  if (!pool || !pool->replicas || !is_managed(services, pool->template_.node_class_ref)) {
    co_return Requeue{};
  }
  if (!snapshot->synced) {
    co_return Requeue{kAwaitSync};
  }
  const auto plan = disruption::plan_static_capacity(*pool, *snapshot, services.loop.now());
  if (plan.withheld > 0) {
    services.log.info("spec.limits.nodes keeps a static nodepool from its replicas",
                      {{"missing", std::to_string(plan.withheld)}});
  }
  for (std::int64_t i = 0; i < plan.create; ++i) {
    NewClaim wanted{.planned = scheduling::static_claim(*pool),
                    .pool = pool,
                    .pods = {},
                    .reason = "static_provisioned"};
    MW_CO_CHECK(co_await create_claim(services, std::move(wanted)));
  }
  for (const auto& record : plan.remove) {
    // At once, or the next look would take another node for the same surplus.
    services.state.mark_for_deletion(record->claim_name(), true);
    auto deleted = co_await delete_claim(services, record->claim, "static_scale_down");
    if (!deleted) {
      services.state.mark_for_deletion(record->claim_name(), false);
      co_return tl::unexpected(std::move(deleted).error());
    }
  }
  co_return plan.withheld > 0 ? Requeue{kLookAgainAtLimit} : Requeue{kStaticPoolResync};
}

}  // namespace millwright::controllers
