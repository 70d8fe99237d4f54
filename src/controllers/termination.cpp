#include "millwright/controllers/termination.hpp"

#include "controllers/claim_conditions.hpp"
#include "controllers/termination_reports.hpp"
#include "millwright/controllers/drain.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr auto kDrainPoll = std::chrono::seconds(1);
constexpr auto kInstancePoll = std::chrono::seconds(5);
constexpr base::Duration kMinEvictionBackoff = std::chrono::milliseconds(100);
constexpr base::Duration kMaxEvictionBackoff = std::chrono::seconds(10);

std::optional<base::TimePoint> deadline_of(const scheduling::NodeRecord& record) {
  const std::string& text =
      record.claim ? record.claim->meta.annotation(model::kTerminationTimestampAnnotation)
                   : record.node->meta.annotation(model::kTerminationTimestampAnnotation);
  return base::parse_rfc3339(text);
}

// Volumes still attached, but for those that pods which stay behind use.
std::vector<std::string> attached_volumes(const scheduling::Snapshot& snapshot,
                                          const scheduling::NodeRecord& record) {
  std::set<std::string> staying;
  for (const auto& pod : record.pods) {
    for (const auto& volume : pod->spec.volumes) {
      const auto claim = std::find_if(snapshot.volume_claims.begin(), snapshot.volume_claims.end(),
                                      [&](const auto& candidate) {
                                        return candidate->meta.namespace_ == pod->meta.namespace_ &&
                                               candidate->meta.name == volume.claim_name;
                                      });
      if (claim != snapshot.volume_claims.end()) {
        staying.insert((*claim)->volume_name);
      }
    }
  }
  std::vector<std::string> attached;
  for (const auto& attachment : snapshot.volume_attachments) {
    if (attachment->node_name == record.node->meta.name &&
        !attachment->persistent_volume_name.empty() &&
        !staying.contains(attachment->persistent_volume_name)) {
      attached.push_back(attachment->meta.name);
    }
  }
  return attached;
}

std::string disruption_reason(const scheduling::NodeRecord& record) {
  const auto* found =
      record.claim ? model::find_condition(record.claim->conditions, model::kDisruptionReason)
                   : nullptr;
  return found != nullptr ? found->reason : "Forceful Termination";
}

}  // namespace

Termination::Termination(Services& services)
    : services_(services),
      reconciler_(
          services.loop, "node.termination",
          [this](std::string node, std::stop_token) { return reconcile(std::move(node)); },
          services.log.named("node.termination"), services.metrics,
          ReconcilerOptions{.max_concurrent = 1000,
                            .min_backoff = std::chrono::milliseconds(100),
                            .max_backoff = std::chrono::seconds(10)}) {}

base::Task<void> Termination::evict(scheduling::PodPtr pod, std::string node, std::string why) {
  auto& attempt = attempts_[pod->meta.uid];
  if (services_.loop.now() < attempt.next) {
    co_return;
  }
  kube::DeleteOptions options;
  options.uid = pod->meta.uid;
  auto reply = co_await services_.client.evict(model::key_of(pod->meta), options);
  using base::ErrorKind;
  const bool gone = !reply && (reply.error().kind == ErrorKind::NotFound ||
                               reply.error().kind == ErrorKind::Conflict);
  count_eviction(services_, reply ? nullptr : &reply.error());
  if (reply || gone) {
    attempts_.erase(pod->meta.uid);
    if (reply) {
      services_.events.record({.object = kube::reference_to(model::kPodResource, pod->meta),
                               .warning = false,
                               .reason = "Evicted",
                               .message = "Evicted pod: " + why,
                               .dedupe_values = {}});
      services_.metrics.count("karpenter_pods_drained_total", "Pods evicted.", {{"reason", why}});
    }
    co_return;
  }
  auto& failed = attempts_[pod->meta.uid];
  const base::Duration delay =
      std::min(kMinEvictionBackoff * (1 << std::min(failed.failures, 7)), kMaxEvictionBackoff);
  ++failed.failures;
  failed.next = services_.loop.now() + delay;
  services_.events.record(
      {.object = {.api_version = "v1", .kind = "Node", .key = {{}, node}, .uid = node},
       .warning = true,
       .reason = "FailedDraining",
       .message = "Failed to drain node, evicting pod " + model::key_of(pod->meta).to_string() +
                  ": " + reply.error().message,
       .dedupe_values = {pod->meta.uid}});
}

// Nothing when the node is empty; else when to look again.
base::Task<base::Result<Requeue>> Termination::drain(scheduling::NodeRecordPtr record) {
  const auto deadline = deadline_of(*record);
  const DrainStep step = next_drain_step(*record, deadline, services_.loop.now());
  for (const auto& [pod, grace] : step.force_delete) {
    if (pod->meta.is_deleting() && pod->meta.deletion_timestamp <= deadline) {
      continue;
    }
    services_.events.record({.object = kube::reference_to(model::kPodResource, pod->meta),
                             .warning = false,
                             .reason = "Disrupted",
                             .message = "Deleting the pod with " + std::to_string(grace) +
                                        " s of grace: the node must be gone by " +
                                        base::format_rfc3339(*deadline) +
                                        "; disruption budgets and do-not-disrupt no longer count",
                             .dedupe_values = {}});
    kube::DeleteOptions options;
    options.uid = pod->meta.uid;
    options.grace_period_seconds = grace;
    auto deleted =
        co_await services_.client.remove(model::kPodResource, model::key_of(pod->meta), options);
    if (!deleted && deleted.error().kind != base::ErrorKind::NotFound &&
        deleted.error().kind != base::ErrorKind::Conflict) {
      co_return tl::unexpected(std::move(deleted).error());
    }
  }
  const std::string why = disruption_reason(*record);
  for (const auto& pod : step.evict) {
    co_await evict(pod, record->node->meta.name, why);
  }
  if (step.waiting > 0) {
    tell_waiting(services_, *record->node, step.waiting);
    co_return Requeue{kDrainPoll};
  }
  co_return Requeue{};
}

namespace {

// Closed to new pods for the scheduler too, and out of load balancers.
base::Task<base::Result<>> close_node(Services& services, std::shared_ptr<const model::Node> node) {
  std::vector<model::Taint> taints = node->taints;
  const bool tainted = std::any_of(taints.begin(), taints.end(), [](const auto& taint) {
    return taint.key == model::kDisruptedTaint && taint.effect == "NoSchedule";
  });
  if (tainted && !node->meta.label(model::kExcludeBalancersLabel).empty()) {
    co_return base::Result<>{};
  }
  std::erase_if(taints, [](const auto& taint) { return taint.key == model::kDisruptedTaint; });
  taints.push_back({.key = std::string(model::kDisruptedTaint), .effect = "NoSchedule"});
  json::object patch{{"metadata", {{"labels", {{model::kExcludeBalancersLabel, "karpenter"}}}}},
                     {"spec", {{"taints", model::encode(taints)}}}};
  auto patched = co_await patch_node(services, node, std::move(patch));
  if (!patched) {
    co_return tl::unexpected(std::move(patched).error());
  }
  co_return base::Result<>{};
}

base::Task<base::Result<Requeue>> let_go(Services& services,
                                         std::shared_ptr<const model::Node> node) {
  json::array finalizers;
  for (const auto& finalizer : node->meta.finalizers) {
    if (finalizer != model::kTerminationFinalizer) {
      finalizers.emplace_back(finalizer);
    }
  }
  json::object patch{{"metadata", {{"finalizers", std::move(finalizers)}}}};
  auto reply = co_await services.client.patch(model::kNodeResource, model::key_of(node->meta),
                                              kube::PatchType::Merge, std::move(patch));
  if (!reply && reply.error().kind != base::ErrorKind::NotFound) {
    co_return tl::unexpected(std::move(reply).error());
  }
  services.ledger.release_target(node->meta.name);
  services.ledger.unfence(node->meta.name);
  count_terminated(services, *node);
  services.log.info("deleted node", {{"Node", node->meta.name}});
  co_return Requeue{};
}

base::Task<base::Result<ClaimPtr>> mark_drained(Services& services, ClaimPtr claim) {
  const bool first = !model::is_true(claim->conditions, model::kDrained);
  auto drained = co_await edit_conditions(
      services, claim, [](model::ConditionSet& set) { set.set_true(model::kDrained); });
  if (drained && first) {
    services.metrics.count("karpenter_nodes_drained_total", "Nodes drained.",
                           {{"nodepool", claim->meta.label(model::kNodePoolLabel)}});
  }
  co_return drained;
}

// Nothing when no volume is left attached or the deadline is past.
base::Task<base::Result<Requeue>> await_volumes(Services& services, ClaimPtr claim,
                                                scheduling::NodeRecordPtr record) {
  const auto attached = attached_volumes(*services.state.snapshot(), *record);
  const auto deadline = deadline_of(*record);
  if (attached.empty()) {
    auto edited = co_await edit_conditions(
        services, claim, [](model::ConditionSet& set) { set.set_true(model::kVolumesDetached); });
    if (!edited) {
      co_return tl::unexpected(std::move(edited).error());
    }
    co_return Requeue{};
  }
  const bool late = deadline && services.loop.now() >= *deadline;
  const auto edit = [late](model::ConditionSet& set) {
    if (late) {
      set.set_false(model::kVolumesDetached, "TerminationGracePeriodElapsed",
                    "Volumes were still attached when the termination grace period ended");
    } else {
      set.set_unknown(model::kVolumesDetached, "AwaitingVolumeDetachment",
                      "Waiting for volumes to be detached");
    }
  };
  auto edited = co_await edit_conditions(services, claim, edit);
  if (!edited) {
    co_return tl::unexpected(std::move(edited).error());
  }
  if (late) {
    co_return Requeue{};
  }
  tell_attached(services, *record->node, attached);
  co_return Requeue{kDrainPoll};
}

base::Task<base::Result<Requeue>> end_instance(Services& services, ClaimPtr claim,
                                               std::shared_ptr<const model::Node> node) {
  cloud::Provider* provider =
      services.providers.find(claim->node_class_ref.group, claim->node_class_ref.kind);
  auto removed = co_await provider->remove(claim);
  if (removed) {
    auto edited = co_await edit_conditions(services, claim, [](model::ConditionSet& set) {
      set.set_true(model::kInstanceTerminating);
    });
    if (!edited) {
      co_return tl::unexpected(std::move(edited).error());
    }
    co_return Requeue{kInstancePoll};
  }
  if (removed.error().kind != base::ErrorKind::NotFound) {
    co_return base::with_context("terminating the instance of Node " + node->meta.name,
                                 std::move(removed).error());
  }
  auto gone = co_await let_go(services, node);
  co_return gone;
}

}  // namespace

base::Task<base::Result<Requeue>> Termination::reconcile(std::string name) {
  const auto record = find_node(*services_.state.snapshot(), name);
  if (!record || !record->node->meta.is_deleting() ||
      !record->node->meta.has_finalizer(model::kTerminationFinalizer)) {
    co_return Requeue{};
  }
  const auto node = record->node;
  if (!record->claim) {
    auto gone = co_await let_go(services_, node);  // nothing of ours is behind it
    co_return gone;
  }
  auto claim = record->claim;
  services_.ledger.fence({.node = name, .reason = "Terminating", .since = services_.loop.now()});
  if (!claim->meta.is_deleting()) {
    auto deleted = co_await delete_claim(services_, claim, "node_deleted");
    if (!deleted) {
      co_return tl::unexpected(std::move(deleted).error());
    }
    co_return Requeue{kDrainPoll};  // the claim's deletion carries the deadline
  }
  cloud::Provider* provider =
      services_.providers.find(claim->node_class_ref.group, claim->node_class_ref.kind);
  if (provider == nullptr) {
    co_return base::fail(base::ErrorKind::Invalid,
                         "Node " + name + ": no cloud of this installation serves " +
                             claim->node_class_ref.kind + "; its instance cannot be ended");
  }
  if (!model::is_ready(*node)) {
    auto instance = co_await provider->get(claim->provider_id);
    if (!instance && instance.error().kind == base::ErrorKind::NotFound) {
      auto gone = co_await let_go(services_, node);
      co_return gone;
    }
  }
  if (const auto deadline = deadline_of(*record)) {
    tell_deadline(services_, *node, *deadline);
  }
  auto closed = co_await close_node(services_, node);
  if (!closed) {
    co_return tl::unexpected(std::move(closed).error());
  }
  if (is_undecided(claim, model::kDrained)) {
    auto edited = co_await edit_conditions(services_, claim, [](model::ConditionSet& set) {
      set.set_unknown(model::kDrained, "Draining", "Draining the node");
    });
    MW_CO_TRY(draining, std::move(edited));
    claim = draining;
    auto drained = co_await drain(record);
    MW_CO_TRY(wait, std::move(drained));
    const auto* condition_found = condition(claim, model::kDrained);
    const base::Duration so_far =
        services_.loop.now() - condition_found->last_transition_time.value_or(base::TimePoint{});
    if (!wait && so_far < services_.options.min_drain_time) {
      wait = services_.options.min_drain_time - so_far;
    }
    if (wait) {
      co_return wait;
    }
    auto marked = co_await mark_drained(services_, claim);
    MW_CO_TRY(done, std::move(marked));
    claim = done;
  }
  auto volumes = co_await await_volumes(services_, claim, record);
  MW_CO_TRY(volume_wait, std::move(volumes));
  if (volume_wait) {
    co_return volume_wait;
  }
  const auto fresh = find_claim(*services_.state.snapshot(), claim->meta.name);
  auto ended = co_await end_instance(services_, fresh ? fresh->claim : claim, node);
  co_return ended;
}

}  // namespace millwright::controllers
