#include "controllers/termination/finalization.hpp"

#include "controllers/nodeclaim/lifecycle/registration.hpp"
#include "controllers/termination/last_steps.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/model/codec.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr auto kFinalPoll = std::chrono::seconds(5);
constexpr auto kNodePoll = std::chrono::seconds(10);

// The wall against which draining is measured; written once, at the first deletion.
ClaimReply stamp_termination(Services& services, ClaimPtr claim) {
  const auto grace = claim->termination_grace_period.value();
  const auto deleted = claim->meta.deletion_timestamp;
  const auto end = grace && deleted ? base::sum_of(*deleted, *grace) : std::nullopt;
  if (!end || !claim->meta.annotation(model::kTerminationTimestampAnnotation).empty()) {
    co_return claim;
  }
  const std::string wall = base::format_rfc3339(*end);
  services.events.record({.object = kube::reference_to(model::kNodeClaimResource, claim->meta),
                          .warning = true,
                          .reason = "TerminationGracePeriodExpiring",
                          .message = "All pods will be deleted by " + wall,
                          .dedupe_values = {}});
  json::object metadata{{"annotations", {{model::kTerminationTimestampAnnotation, wall}}}};
  co_return co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata)));
}

// A Node that its kubelet made anew was never registered. Nothing would drain it, and who may not
// delete it (the policies of an installation limit that to registered Nodes) ends its instance
// nevertheless: the cloud's controller removes the Node.
bool may_be_left(const model::Node& node, const base::Error& error) {
  return error.kind == base::ErrorKind::Denied &&
         !node.meta.has_finalizer(model::kTerminationFinalizer);
}

// The last leader may have registered a Node that a late watch has not shown here, or as it was
// before it had its provider id: its pods have to be drained once it does. Unavailable then.
base::Task<base::Result<bool>> confirm_no_node(Services& services, ClaimPtr claim) {
  if (claim->node_name.empty() || base::planted(base::Mutant::LeadsBeforeLists)) {
    co_return false;
  }
  const model::ObjectKey key{.namespace_ = {}, .name = claim->node_name};
  const auto object = co_await services.client.get(model::kNodeResource, key);
  MW_CO_CHECK(ignore_not_found(object));
  if (!object) {
    co_return false;
  }
  MW_CO_TRY(node, model::decode<model::Node>(*object));
  // It may have come while the API server was asked.
  const bool joined = services.state.joined_by_claim(claim->meta.name).node != nullptr;
  const auto seen = services.state.joined_by_node(claim->node_name).node;
  const bool seen_as_it_is =
      !joined && seen && seen->meta.resource_version == node.meta.resource_version;
  if (is_registered_for(node, *claim) && !seen_as_it_is) {
    co_return base::fail(base::ErrorKind::Unavailable,
                         "Node " + claim->node_name + " exists, and is not seen here as it is");
  }
  co_return false;
}

// What registration wrote may be stored though its answer was lost, and the watch may be late: the
// Node is open to pods then, and has to be drained.
base::Task<base::Result<bool>> may_run_pods(Services& services, scheduling::NodeRecordPtr record,
                                            ClaimPtr claim) {
  if (!record->node) {
    co_return co_await confirm_no_node(services, claim);
  }
  if (model::is_true(claim->conditions, model::kRegistered)) {
    co_return true;
  }
  if (base::planted(base::Mutant::UnseenNodesForgotten)) {
    co_return false;
  }
  const auto object =
      co_await services.client.get(model::kNodeResource, model::key_of(record->node->meta));
  MW_CO_CHECK(ignore_not_found(object));
  if (!object) {
    co_return false;
  }
  MW_CO_TRY(node, model::decode<model::Node>(*object));
  co_return node.meta.uid == record->node->meta.uid&& is_registered_for(node, *claim);
}

// 1, 2, 4, ... seconds.
std::vector<double> doubling_buckets(std::size_t count) {
  std::vector<double> bounds{1};
  while (bounds.size() < count) {
    bounds.push_back(bounds.back() * 2);
  }
  return bounds;
}

void observe_termination(Services& services, const model::NodeClaim& claim) {
  const base::MetricLabels pool{{"nodepool", claim.meta.label(model::kNodePoolLabel)}};
  const base::TimePoint now = services.loop.now();
  const auto seconds_since = [now](base::TimePoint then) {
    return std::max(0.0, std::chrono::duration<double>(now - then).count());
  };
  if (claim.meta.deletion_timestamp) {
    services.metrics.observe("karpenter_nodeclaims_termination_duration_seconds",
                             "From a NodeClaim's deletion until it was gone.", pool,
                             seconds_since(*claim.meta.deletion_timestamp), doubling_buckets(12));
  }
  const auto* ending = model::find_condition(claim.conditions, model::kInstanceTerminating);
  if (ending != nullptr && ending->last_transition_time) {
    services.metrics.observe("karpenter_nodeclaims_instance_termination_duration_seconds",
                             "From the cloud's being asked to end an instance until it was gone.",
                             pool, seconds_since(*ending->last_transition_time),
                             doubling_buckets(11));
  }
}

base::Task<base::Result<Requeue>> drop_finalizer(Services& services, ClaimPtr claim) {
  MW_CO_CHECK(ignore_not_found(
      co_await services.client.patch(model::kNodeClaimResource, model::key_of(claim->meta),
                                     kube::PatchType::Merge, finalizer_removal(claim->meta))));
  services.ledger.release_target(claim->meta.name);
  const model::ObjectMeta& meta = claim->meta;
  services.metrics.count("karpenter_nodeclaims_terminated_total", "NodeClaims that are gone.",
                         {{"nodepool", meta.label(model::kNodePoolLabel)},
                          {"capacity_type", meta.label(model::kCapacityTypeLabel)},
                          {"zone", meta.label(model::kZoneLabel)}});
  observe_termination(services, *claim);
  services.log.info("deleted nodeclaim",
                    {{"NodeClaim", meta.name}, {"provider-id", claim->provider_id}});
  co_return Requeue{};
}

}  // namespace

base::Task<base::Result<Requeue>> finalize_claim(Services& services,
                                                 scheduling::NodeRecordPtr record) {
  if (!record->claim->meta.has_finalizer(model::kTerminationFinalizer)) {
    co_return Requeue{};
  }
  MW_CO_TRY(claim, co_await stamp_termination(services, record->claim));
  MW_CO_TRY(pods_run, co_await may_run_pods(services, record, claim));
  if (pods_run) {
    base::Result<> deleted;
    if (!record->node->meta.is_deleting()) {
      deleted = co_await delete_node(services, record->node);
    }
    if (deleted) {
      co_return Requeue{kNodePoll};  // node termination drains it; its end is an event
    }
    if (!may_be_left(*record->node, deleted.error())) {
      co_return tl::unexpected(std::move(deleted).error());
    }
  }
  MW_CO_TRY(gone, co_await end_instance(services, claim));
  if (!gone) {
    co_return Requeue{kFinalPoll};
  }
  co_return co_await drop_finalizer(services, claim);
}

}  // namespace millwright::controllers
