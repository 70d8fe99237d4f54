#include "millwright/controllers/nodeclaim/claim_status.hpp"

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "controllers/nodeclaim/conditions/consistency.hpp"
#include "controllers/nodeclaim/conditions/drift.hpp"
#include "controllers/nodeclaim/conditions/expiration.hpp"
#include "controllers/nodeclaim/conditions/pod_events.hpp"
#include "millwright/controllers/buffers/buffer_room.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr auto kDriftAgain = std::chrono::minutes(5);
constexpr auto kBufferPoll = std::chrono::seconds(1);

void write_drift(model::ConditionSet& set, const std::string& reason) {
  if (reason.empty()) {
    set.clear(model::kDrifted);
  } else {
    set.set_true(model::kDrifted, reason, reason);
  }
}

void write_consolidatable(model::ConditionSet& set, bool consolidatable) {
  if (consolidatable) {
    set.set_true(model::kConsolidatable);
  } else {
    set.clear(model::kConsolidatable);
  }
}

// The claim as it would be if the event were written. It counts at once, so that the claim of a
// busy node does not become Consolidatable whenever an event is not written yet.
ClaimPtr with_pod_event(const ClaimPtr& claim, std::optional<base::TimePoint> when) {
  if (!when) {
    return claim;
  }
  auto changed = std::make_shared<model::NodeClaim>(*claim);
  changed->last_pod_event_time = when;
  return changed;
}

json::object status_with(std::optional<base::TimePoint> pod_event) {
  json::object status;
  if (pod_event) {
    status["lastPodEventTime"] = base::format_rfc3339(*pod_event);
  }
  return status;
}

}  // namespace

ClaimStatus::ClaimStatus(Services& services)
    : services_(services),
      pod_events_(std::make_unique<PodEvents>()),
      reconciler_(
          reconciler_context(services, "nodeclaim.disruption", "NodeClaim"),
          [this](std::string claim, base::Logger log, std::stop_token) {
            return reconcile(std::move(claim), std::move(log));
          },
          ReconcilerOptions{.max_concurrent = 100}) {}
ClaimStatus::~ClaimStatus() = default;

void ClaimStatus::pod_event(std::string_view node, std::optional<base::TimePoint> happened) {
  if (const auto claim = services_.state.joined_by_node(node).claim) {
    const base::TimePoint now = services_.loop.now();
    pod_events_->note(claim->meta.name, std::min(happened.value_or(now), now));
    reconciler_.enqueue(claim->meta.name);
  }
}

void ClaimStatus::forget(std::string_view claim) {
  pod_events_->forget(claim);
}

base::Task<base::Result<Requeue>> ClaimStatus::reconcile(std::string name, base::Logger log) {
  const auto record = services_.state.find_claim(name);
  if (!record || record->claim->meta.is_deleting() ||
      !is_managed(services_, record->claim->node_class_ref)) {
    forget(name);
    co_return Requeue{};
  }
  const base::TimePoint now = services_.loop.now();
  auto end = expiry_of(*record->claim);
  const bool expired = end && now >= *end;
  if (expired) {
    end = expiration_begin(services_, *record->claim, *end);
  }
  if (end && now >= *end) {
    if (awaits_buffer_room(services_, *record, *end)) {
      // The next plan finds the room another place.
      services_.state.mark_for_deletion(name, true);
      services_.buffers->ask();
      co_return Requeue{kBufferPoll};
    }
    Services services = services_.logging_to(std::move(log));
    MW_CO_CHECK(co_await delete_claim(services, record->claim, "expired"));
    co_return Requeue{};
  }
  if (expired && end) {
    tell_expiration_waits(services_, *record, *end);
  }
  const auto event = pod_events_->unwritten(*record->claim, now);
  const Requeue again = sooner(end ? Requeue(*end - now) : Requeue(), event.again);
  const std::optional<base::TimePoint> due = event.due ? event.when : std::nullopt;
  MW_CO_TRY(judged, co_await write(with_pod_event(record->claim, event.when), due));
  co_return sooner(again, judged);
}

// The conditions about disruption, and the pod event that is due, in one patch.
base::Task<base::Result<Requeue>> ClaimStatus::write(ClaimPtr claim,
                                                     std::optional<base::TimePoint> pod_event) {
  const auto pool =
      find_pool(*services_.state.snapshot(), claim->meta.label(model::kNodePoolLabel));
  if (!pool || !model::is_true(claim->conditions, model::kLaunched)) {
    const auto nothing = [](model::ConditionSet&) {};
    MW_CO_CHECK(co_await edit_conditions(services_, claim, nothing, status_with(pod_event)));
    pod_events_->written(claim->meta.name, pod_event);
    co_return Requeue{};
  }
  // A cloud that cannot answer leaves the condition Drifted as it is. All else is written: without
  // its pods' comings and goings, the node would go before consolidateAfter is over.
  const auto drift = co_await drift_of(services_, claim, pool);
  const auto consolidatable = disruption::consolidatable(*claim, *pool, services_.loop.now());
  const auto consistency = compare_with_node(services_, claim);
  const auto edit = [&](model::ConditionSet& set) {
    write_consistency(set, consistency);
    if (drift) {
      write_drift(set, *drift);
    }
    write_consolidatable(set, consolidatable.value);
  };
  MW_CO_CHECK(co_await edit_conditions(services_, claim, edit, status_with(pod_event)));
  pod_events_->written(claim->meta.name, pod_event);
  if (!drift) {
    co_return tl::unexpected(drift.error());
  }
  Requeue again = kDriftAgain;
  if (consolidatable.next) {
    again = sooner(again, *consolidatable.next - services_.loop.now());
  }
  co_return again;
}

}  // namespace millwright::controllers
