#include "millwright/controllers/static_capacity.hpp"

#include "millwright/controllers/provisioning.hpp"
#include "millwright/disruption/static_capacity.hpp"
#include "millwright/scheduling/static_claims.hpp"

namespace millwright::controllers {
namespace {

constexpr auto kLookAgain = std::chrono::minutes(1);
constexpr auto kLookAgainAtLimit = std::chrono::seconds(30);
constexpr auto kAwaitSync = std::chrono::seconds(1);

}  // namespace

StaticCapacity::StaticCapacity(Services& services)
    : services_(services),
      reconciler_(
          services.loop, "static.provisioning",
          [this](std::string pool, std::stop_token) { return reconcile(std::move(pool)); },
          services.log.named("static.provisioning"), services.metrics,
          ReconcilerOptions{.max_concurrent = 10}) {}

// One task per pool at a time, and claims count from their creation on: what is counted here is
// what there is, whoever led before.
base::Task<base::Result<Requeue>> StaticCapacity::reconcile(std::string name) {
  const auto snapshot = services_.state.snapshot();
  const auto pool = find_pool(*snapshot, name);
  if (!pool || !pool->replicas || !is_managed(services_, pool->template_.node_class_ref)) {
    co_return Requeue{};
  }
  if (!snapshot->synced) {
    co_return Requeue{kAwaitSync};
  }
  const auto plan = disruption::plan_static_capacity(*pool, *snapshot, services_.loop.now());
  if (plan.withheld > 0) {
    services_.log.info("spec.limits.nodes keeps a static nodepool from its replicas",
                       {{"NodePool", name}, {"missing", std::to_string(plan.withheld)}});
  }
  for (std::int64_t i = 0; i < plan.create; ++i) {
    auto planned = scheduling::static_claim(*pool);
    std::vector<scheduling::PodPtr> nobody;
    auto created = co_await create_planned_claim(services_, std::move(planned), pool,
                                                 std::move(nobody), "static_provisioned");
    if (!created) {
      co_return tl::unexpected(std::move(created).error());
    }
  }
  for (const auto& record : plan.remove) {
    // At once, or the next look would take another node for the same surplus.
    services_.state.mark_for_deletion(record->claim_name(), true);
    auto deleted = co_await delete_claim(services_, record->claim, "static_scale_down");
    if (!deleted) {
      services_.state.mark_for_deletion(record->claim_name(), false);
      co_return tl::unexpected(std::move(deleted).error());
    }
  }
  co_return plan.withheld > 0 ? Requeue{kLookAgainAtLimit} : Requeue{kLookAgain};
}

}  // namespace millwright::controllers
