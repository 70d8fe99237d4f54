#include "millwright/controllers/nodeclaim/node_repair.hpp"

#include "controllers/disruption/disruption_reports.hpp"
#include "controllers/nodeclaim/forced_end.hpp"
#include "controllers/nodeclaim/repair/repair_reports.hpp"

#include <utility>

namespace millwright::controllers {
namespace {

// As in Karpenter.
constexpr auto kAskHealthAgain = std::chrono::minutes(5);
constexpr auto kAskBudgetsAgain = std::chrono::minutes(1);
constexpr auto kAskStateAgain = std::chrono::seconds(10);

std::string too_many(const disruption::HealthCount& health, const std::string& pool) {
  const std::string whose = pool.empty() ? "the cluster" : "NodePool " + pool;
  return std::to_string(health.broken) + " of the " + std::to_string(health.nodes) + " nodes of " +
         whose + " are broken; none is replaced while more than " +
         std::to_string(health.tolerated()) + " (20 %) are";
}

// Success also when the claim is gone meanwhile. Its pods are planned for from the first moment,
// and its NodePool's budgets count it.
base::Task<base::Result<>> replace_broken(Services& services, scheduling::NodeRecordPtr record,
                                          std::string condition) {
  const std::string name = record->claim_name();
  services.state.mark_for_deletion(name, true);
  if (!record->claim->meta.is_deleting()) {
    auto deleted = co_await delete_claim(services, record->claim, "unhealthy");
    if (!deleted) {
      if (!record->marked_for_deletion) {
        services.state.mark_for_deletion(name, false);
      }
      co_return deleted;
    }
    count_repair(services, *record->claim, condition);
    tell_terminating(services, *record, "Unhealthy (condition " + condition + ")");
    services.log.info(
        "deleting unhealthy node",
        {{"Node", record->node->meta.name}, {"NodeClaim", name}, {"condition", condition}});
  }
  co_return co_await end_drain_time(services, record->claim);
}

}  // namespace

NodeRepair::NodeRepair(Services& services)
    : services_(services),
      reports_(std::make_unique<RepairReports>()),
      reconciler_(
          reconciler_context(services, "node.health", "Node"),
          [this](std::string node, base::Logger log, std::stop_token) {
            return reconcile(std::move(node), std::move(log));
          },
          ReconcilerOptions{.max_concurrent = 100}) {}
NodeRepair::~NodeRepair() = default;

base::Task<base::Result<Requeue>> NodeRepair::reconcile(std::string name, base::Logger log) {
  const auto snapshot = services_.state.snapshot();
  const auto record = find_node(*snapshot, name);
  if (!record) {
    ended_.erase(name);
  }
  if (!record || !record->claim || is_ended(*record)) {
    co_return Requeue{};
  }
  const auto& ref = record->claim->node_class_ref;
  const cloud::Provider* provider = services_.providers.find(ref.group, ref.kind);
  const auto ailment = provider == nullptr
                           ? std::nullopt
                           : disruption::find_ailment(*record->node, provider->repair_policies());
  if (!ailment) {
    co_return Requeue{};
  }
  if (const base::TimePoint now = services_.loop.now(); now < ailment->due) {
    co_return Requeue{ailment->due - now};
  }
  if (!snapshot->synced) {
    co_return Requeue{kAskStateAgain};  // the node may be well again
  }
  if (const auto again = held_back(*snapshot, *record, *provider)) {
    co_return again;
  }
  Services services = services_.logging_to(std::move(log));
  MW_CO_CHECK(co_await replace_broken(services, record, ailment->condition));
  ended_[name] = record->claim->meta.uid;
  co_return Requeue{};
}

bool NodeRepair::is_ended(const scheduling::NodeRecord& record) const {
  const auto& claim = *record.claim;
  const auto ended = ended_.find(record.name());
  return (ended != ended_.end() && ended->second == claim.meta.uid) ||
         (claim.meta.is_deleting() && is_out_of_time(claim, services_.loop.now()));
}

Requeue NodeRepair::held_back(const scheduling::Snapshot& snapshot,
                              const scheduling::NodeRecord& record,
                              const cloud::Provider& provider) {
  const auto& pool_name = record.claim->meta.label(model::kNodePoolLabel);
  const auto& counts = health(snapshot, provider);
  const auto count = pool_name.empty() ? counts.of_cluster() : counts.of_pool(pool_name);
  if (count.too_many_broken()) {
    reports_->tell_held_back(services_, record, RepairReports::Cause::TooManyBroken,
                             too_many(count, pool_name));
    return kAskHealthAgain;
  }
  // A node that goes already uses up its part of the budgets.
  const auto pool = find_pool(snapshot, pool_name);
  if (pool && disruption::repairs_within_budgets(*pool) && !record.marked_for_deletion &&
      !disruption::budgets_allow_repair(*pool, snapshot, record, services_.loop.now())) {
    reports_->tell_held_back(services_, record, RepairReports::Cause::Budgets,
                             "spec.disruption.budgets of NodePool " + pool_name +
                                 " allow no node more to go now, and its repairs keep to them (" +
                                 std::string(model::kRepairWithinBudgetsAnnotation) + ")");
    return kAskBudgetsAgain;
  }
  return {};
}

const disruption::NodeHealth& NodeRepair::health(const scheduling::Snapshot& snapshot,
                                                 const cloud::Provider& provider) {
  auto found = counted_.find(&provider);
  if (found == counted_.end() || found->second.generation != snapshot.generation) {
    Counted counted{.generation = snapshot.generation,
                    .health = disruption::NodeHealth(snapshot, provider.repair_policies())};
    found = counted_.insert_or_assign(&provider, std::move(counted)).first;
  }
  return found->second.health;
}

}  // namespace millwright::controllers
