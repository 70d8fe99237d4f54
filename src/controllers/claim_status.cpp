#include "millwright/controllers/claim_status.hpp"

#include "controllers/claim_conditions.hpp"
#include "controllers/consistency.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr auto kDriftAgain = std::chrono::minutes(5);
constexpr auto kSayInconsistent = std::chrono::minutes(10);
// lastPodEventTime is written at most this often per claim, as Karpenter does.
constexpr auto kPodEventPeriod = std::chrono::seconds(10);

Requeue sooner(Requeue a, Requeue b) {
  if (a && b) {
    return std::min(*a, *b);
  }
  return a ? a : b;
}

ClaimReply write_pod_event(Services& services, ClaimPtr claim, base::TimePoint when) {
  json::object status{{"lastPodEventTime", base::format_rfc3339(when)}};
  auto patched = co_await patch_claim(services, claim, ClaimPatch::of_status(std::move(status)));
  co_return patched;
}

// nullopt: not to be judged yet.
std::optional<std::string> inconsistency_of(Services& services, const ClaimPtr& claim) {
  const auto record = services.state.find_claim(claim->meta.name);
  if (!record || !record->node || !model::is_true(claim->conditions, model::kInitialized)) {
    return std::nullopt;
  }
  auto problem = inconsistency(*claim, *record->node);
  if (!problem.empty()) {
    services.events.record({.object = kube::reference_to(model::kNodeClaimResource, claim->meta),
                            .warning = true,
                            .reason = "FailedConsistencyCheck",
                            .message = problem,
                            .dedupe_values = {},
                            .dedupe_for = kSayInconsistent});
  }
  return problem;
}

// A class that is not ready (no subnets, say) offers nothing, and a catalog may be unknown for now:
// nothing is gone for that.
std::string sale_drift_of(Services& services, cloud::Provider& provider,
                          const model::NodeClaim& claim, const model::NodePool& pool,
                          const model::NodeClass& node_class) {
  if (!model::is_true(node_class.conditions, model::kReady)) {
    return {};
  }
  const auto types = provider.instance_types(pool, node_class);
  return types ? disruption::sale_drift_reason(claim, *types, services.loop.now()) : "";
}

base::Task<base::Result<std::string>> drift_of(Services& services, ClaimPtr claim,
                                               std::shared_ptr<const model::NodePool> pool) {
  std::string reason = disruption::drift_reason(*claim, *pool);
  if (!reason.empty()) {
    co_return reason;
  }
  const auto& ref = claim->node_class_ref;
  const auto node_class = find_node_class(*services.state.snapshot(), ref);
  cloud::Provider* provider = services.providers.find(ref.group, ref.kind);
  if (!node_class || provider == nullptr) {
    co_return std::string();
  }
  reason = sale_drift_of(services, *provider, *claim, *pool, *node_class);
  if (!reason.empty()) {
    co_return reason;
  }
  auto drifted = co_await provider->drift(claim, node_class);
  co_return drifted;
}

}  // namespace

ClaimStatus::ClaimStatus(Services& services)
    : services_(services),
      reconciler_(
          services.loop, "nodeclaim.disruption",
          [this](std::string claim, std::stop_token) { return reconcile(std::move(claim)); },
          services.log.named("nodeclaim.disruption"), services.metrics,
          ReconcilerOptions{.max_concurrent = 100}) {}

void ClaimStatus::pod_event(std::string_view node) {
  const auto record = find_node(*services_.state.snapshot(), node);
  if (record && record->claim) {
    pod_events_[record->claim_name()] = services_.loop.now();
    reconciler_.enqueue(record->claim_name());
  }
}

base::Task<base::Result<Requeue>> ClaimStatus::reconcile(std::string name) {
  const auto record = services_.state.find_claim(name);
  if (!record || record->claim->meta.is_deleting() ||
      !is_managed(services_, record->claim->node_class_ref)) {
    pod_events_.erase(name);
    co_return Requeue{};
  }
  auto claim = record->claim;
  const base::TimePoint now = services_.loop.now();
  Requeue again;

  const auto lifetime = claim->expire_after.value();
  const auto born = claim->meta.creation_timestamp;
  if (lifetime && born) {
    const base::TimePoint end = *born + *lifetime;
    if (now >= end) {
      auto expired = co_await delete_claim(services_, claim, "expired");
      if (!expired) {
        co_return tl::unexpected(std::move(expired).error());
      }
      co_return Requeue{};
    }
    again = end - now;
  }

  if (const auto event = pod_events_.find(name); event != pod_events_.end()) {
    const auto last = claim->last_pod_event_time;
    if (!last || now - *last >= kPodEventPeriod) {
      const base::TimePoint when = event->second;
      auto written = co_await write_pod_event(services_, claim, when);
      MW_CO_TRY(updated, std::move(written));
      claim = updated;
      // A later event may have come while this one was written.
      if (const auto still = pod_events_.find(name);
          still != pod_events_.end() && still->second == when) {
        pod_events_.erase(still);
      }
    } else {
      again = sooner(again, *last + kPodEventPeriod - now);
    }
  }

  const auto pool =
      find_pool(*services_.state.snapshot(), claim->meta.label(model::kNodePoolLabel));
  if (!pool || !model::is_true(claim->conditions, model::kLaunched)) {
    co_return again;
  }
  auto drifted = co_await drift_of(services_, claim, pool);
  MW_CO_TRY(drift, std::move(drifted));
  const auto consolidatable = disruption::consolidatable(*claim, *pool, services_.loop.now());
  const auto inconsistent = inconsistency_of(services_, claim);
  auto edited = co_await edit_conditions(services_, claim, [&](model::ConditionSet& set) {
    if (inconsistent && inconsistent->empty()) {
      set.set_true(model::kConsistentStateFound);
    } else if (inconsistent) {
      set.set_false(model::kConsistentStateFound, "ConsistencyCheckFailed", *inconsistent);
    }
    if (drift.empty()) {
      set.clear(model::kDrifted);
    } else {
      set.set_true(model::kDrifted, drift, drift);
    }
    if (consolidatable.value) {
      set.set_true(model::kConsolidatable);
    } else {
      set.clear(model::kConsolidatable);
    }
  });
  if (!edited) {
    co_return tl::unexpected(std::move(edited).error());
  }
  if (consolidatable.next) {
    again = sooner(again, *consolidatable.next - services_.loop.now());
  }
  co_return sooner(again, kDriftAgain);
}

}  // namespace millwright::controllers
