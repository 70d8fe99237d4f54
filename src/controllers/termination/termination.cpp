#include "millwright/controllers/termination/termination.hpp"

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"
#include "controllers/nodeclaim/conditions/recorded_launch.hpp"
#include "controllers/termination/evictions.hpp"
#include "controllers/termination/last_steps.hpp"
#include "controllers/termination/termination_reports.hpp"
#include "controllers/termination/volume_detachment.hpp"
#include "millwright/controllers/termination/drain.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <vector>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr auto kAwaitDeadline = std::chrono::seconds(1);
constexpr auto kInstancePoll = std::chrono::seconds(5);

using NodePtr = std::shared_ptr<const model::Node>;

// The clouds that the node's instance may be of. Without a claim nobody says which.
base::Result<std::vector<cloud::Provider*>> clouds_of(const Services& services,
                                                      const scheduling::NodeRecord& record) {
  std::vector<cloud::Provider*> clouds;
  if (record.claim) {
    MW_TRY(provider, provider_of(services, *record.claim));
    clouds.push_back(provider);
  } else {
    for (const auto& provider : services.providers.all()) {
      clouds.push_back(provider.get());
    }
  }
  return clouds;
}

// The cloud may not show the machine yet. It has shown one that it was asked to end.
bool may_be_hidden(const scheduling::NodeRecord& record, base::TimePoint now) {
  if (record.claim && model::is_true(record.claim->conditions, model::kInstanceTerminating)) {
    return false;
  }
  auto began = record.claim ? recorded_launch(*record.claim) : std::nullopt;
  if (!began) {
    began = record.node->meta.creation_timestamp;
  }
  return began && now - *began < kUnseenGrace;
}

// No cloud has an instance behind the node any more. Only asked of a node that is not Ready: a
// kubelet that reports is proof enough. A young one is drained whatever has become of it: it may be
// not Ready for a moment only, and its pods go on running.
base::Task<base::Result<bool>> is_instance_gone(Services& services,
                                                scheduling::NodeRecordPtr record) {
  MW_CO_TRY(clouds, clouds_of(services, *record));
  if (model::is_ready(*record->node) || may_be_hidden(*record, services.loop.now())) {
    co_return false;
  }
  const std::string provider_id =
      record->claim ? record->claim->provider_id : record->node->provider_id;
  for (cloud::Provider* provider : clouds) {
    const auto instance = co_await provider->get(provider_id);
    if (instance || instance.error().kind != base::ErrorKind::NotFound) {
      co_return false;
    }
  }
  co_return true;
}

// Closed to new pods for every scheduler, and taken out of load balancers.
base::Task<base::Result<>> close_node(Services& services, NodePtr node) {
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
  MW_CO_CHECK(co_await patch_node(services, node, std::move(patch)));
  co_return base::Result<>{};
}

// Removes the finalizer, so that the API server lets the Node go. A Node that somebody else wrote
// meanwhile, or a new one of its name, is looked at again first.
base::Task<base::Result<Requeue>> remove_finalizer(Services& services, NodePtr node) {
  const auto newest = find_node(*services.state.snapshot(), node->meta.name);
  if (newest && newest->node->meta.uid == node->meta.uid) {
    node = newest->node;  // with what this round wrote itself
  }
  MW_CO_CHECK(ignore_not_found(
      co_await services.client.patch(model::kNodeResource, model::key_of(node->meta),
                                     kube::PatchType::Merge, finalizer_removal(node->meta))));
  services.ledger.release_target(node->meta.name);
  services.ledger.unfence(node->meta.name);
  count_terminated(services, *node);
  services.log.info("deleted node", {{"Node", node->meta.name}});
  co_return Requeue{};
}

ClaimReply mark_draining(Services& services, ClaimPtr claim) {
  co_return co_await edit_conditions(services, claim, [](model::ConditionSet& set) {
    set.set_unknown(model::kDrained, "Draining", "Draining the node");
  });
}

ClaimReply mark_drained(Services& services, ClaimPtr claim) {
  auto drained = co_await edit_conditions(
      services, claim, [](model::ConditionSet& set) { set.set_true(model::kDrained); });
  if (drained) {
    services.metrics.count("karpenter_nodes_drained_total", "Nodes drained.",
                           {{"nodepool", claim->meta.label(model::kNodePoolLabel)}});
  }
  co_return drained;
}

}  // namespace

Termination::Termination(Services& services)
    : services_(services),
      evictions_(std::make_unique<Evictions>(services)),
      reconciler_(
          reconciler_context(services, "node.termination", "Node"),
          [this](std::string node, base::Logger log, std::stop_token stop) {
            return reconcile(std::move(node), std::move(log), std::move(stop));
          },
          ReconcilerOptions{.max_concurrent = 1000,
                            .min_backoff = std::chrono::milliseconds(100),
                            .max_backoff = std::chrono::seconds(10)}) {}
Termination::~Termination() = default;

base::Task<void> Termination::run(std::stop_token stop) {
  co_await reconciler_.run(std::move(stop));
  co_await evictions_->join();
}

base::Task<base::Result<Requeue>> Termination::reconcile(std::string name, base::Logger log,
                                                         std::stop_token stop) {
  Services services = services_.logging_to(std::move(log));
  const auto record = find_node(*services.state.snapshot(), name);
  if (!record || !record->node->meta.is_deleting() ||
      !record->node->meta.has_finalizer(model::kTerminationFinalizer)) {
    evictions_->forget(name);
    co_return Requeue{};
  }
  services.ledger.fence({.node = name, .reason = "Terminating", .since = services.loop.now()});
  if (record->claim && !record->claim->meta.is_deleting()) {
    MW_CO_CHECK(co_await delete_claim(services, record->claim, "node_deleted"));
    co_return Requeue{kAwaitDeadline};  // the claim's deletion sets the deadline
  }
  MW_CO_TRY(gone, co_await is_instance_gone(services, record));
  if (gone) {
    co_return co_await remove_finalizer(services, record->node);
  }
  if (const auto deadline = termination_deadline(*record)) {
    tell_deadline(services, *record->node, *deadline);
  }
  MW_CO_CHECK(co_await close_node(services, record->node));
  MW_CO_TRY(drained, co_await drain(record, stop));
  if (drained.wait) {
    co_return drained.wait;
  }
  MW_CO_TRY(volume_wait, co_await await_volumes(services, drained.claim, record));
  if (volume_wait) {
    co_return volume_wait;
  }
  if (drained.claim) {
    const auto latest = services.state.find_claim(drained.claim->meta.name);
    MW_CO_TRY(ended, co_await end_instance(services, latest ? latest->claim : drained.claim));
    if (!ended) {
      co_return Requeue{kInstancePoll};
    }
  }
  co_return co_await remove_finalizer(services, record->node);
}

base::Task<base::Result<Termination::Drained>> Termination::drain(scheduling::NodeRecordPtr record,
                                                                  std::stop_token stop) {
  Drained result{.claim = record->claim, .wait = {}};
  if (result.claim && model::is_true(result.claim->conditions, model::kInstanceTerminating)) {
    co_return result;  // nothing can leave in good order any more
  }
  // Without a claim nothing tells that the node was empty once.
  const bool has_drained = result.claim && !is_undecided(result.claim, model::kDrained);
  auto began = record->node->meta.deletion_timestamp;
  if (result.claim && !has_drained) {
    MW_CO_TRY(draining, co_await mark_draining(services_, result.claim));
    result.claim = draining;
    began = condition(draining, model::kDrained)->last_transition_time;
  }
  // Also once it was empty: pods may have come since that no taint keeps away.
  result.wait = co_await evictions_->drain(record, stop);
  if (result.wait || has_drained) {
    co_return result;
  }
  const base::Duration so_far = services_.loop.now() - began.value_or(base::TimePoint{});
  if (so_far < services_.options.min_drain_time) {
    result.wait = services_.options.min_drain_time - so_far;
    co_return result;
  }
  MW_CO_TRY(wait, co_await drain_unseen(record, std::move(stop)));
  result.wait = wait;
  if (!result.wait && result.claim) {
    MW_CO_TRY(marked, co_await mark_drained(services_, result.claim));
    result.claim = marked;
  }
  co_return result;
}

base::Task<base::Result<Requeue>> Termination::drain_unseen(scheduling::NodeRecordPtr record,
                                                            std::stop_token stop) {
  kube::ListOptions of_node;
  of_node.field_selector = "spec.nodeName=" + record->node->meta.name;
  MW_CO_TRY(pods, co_await services_.client.list(model::kPodResource, std::move(of_node)));
  auto seen_now = std::make_shared<scheduling::NodeRecord>(*record);
  seen_now->pods.clear();
  for (const auto& object : pods.items) {
    auto pod = model::decode<model::Pod>(object);
    if (pod && !model::is_terminal(*pod)) {
      seen_now->pods.push_back(std::make_shared<const model::Pod>(*std::move(pod)));
    }
  }
  co_return co_await evictions_->drain(std::move(seen_now), std::move(stop));
}

}  // namespace millwright::controllers
