#include "controllers/pools/pool_reports.hpp"

#include "millwright/model/conditions.hpp"

namespace millwright::controllers {
namespace {

constexpr auto kSayIncompatible = std::chrono::minutes(1);

}  // namespace

void tell_pool_problems(Services& services, const scheduling::Snapshot& snapshot,
                        const std::vector<scheduling::PoolProblem>& problems) {
  for (const auto& each : problems) {
    if (const auto pool = find_pool(snapshot, each.node_pool)) {
      services.events.record({.object = kube::reference_to(model::kNodePoolResource, pool->meta),
                              .warning = true,
                              .reason = "NoCompatibleInstanceTypes",
                              .message = "It can buy no node: " + each.problem,
                              .dedupe_values = {},
                              .dedupe_for = kSayIncompatible});
    }
  }
}

void tell_transitions(Services& services, const model::NodePool& before,
                      const std::vector<model::Condition>& now) {
  for (const auto& condition : now) {
    const auto* old = model::find_condition(before.conditions, condition.type);
    if (old == nullptr || old->status == condition.status) {
      continue;
    }
    std::string message = "Condition " + condition.type + " went from " +
                          std::string(model::status_text(old->status)) + " to " +
                          std::string(model::status_text(condition.status)) + ": " +
                          condition.reason;
    if (!condition.message.empty() && condition.message != condition.reason) {
      message += ", " + condition.message;
    }
    services.events.record({.object = kube::reference_to(model::kNodePoolResource, before.meta),
                            .warning = false,
                            .reason = condition.type,
                            .message = std::move(message),
                            .dedupe_values = {}});
  }
}

}  // namespace millwright::controllers
