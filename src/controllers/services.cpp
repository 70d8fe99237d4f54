#include "millwright/controllers/services.hpp"

#include "controllers/decisions/decision_notes.hpp"
#include "millwright/controllers/provisioning/overlays.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::controllers {

namespace json = boost::json;

Services Services::logging_to(base::Logger logger) const {
  Services copy = *this;
  copy.log = std::move(logger);
  return copy;
}

ReconcilerContext reconciler_context(const Services& services, std::string name,
                                     std::string_view kind) {
  return {.loop = services.loop,
          .metrics = services.metrics,
          .log = services.log,
          .name = std::move(name),
          .kind = std::string(kind),
          .seed = services.seed};
}

scheduling::NodeRecordPtr find_node(const scheduling::Snapshot& snapshot, std::string_view node) {
  // Sorted by name; a Node comes before a claim in flight of the same name.
  const auto found = std::lower_bound(
      snapshot.nodes.begin(), snapshot.nodes.end(), node,
      [](const auto& record, std::string_view name) { return record->name() < name; });
  return found != snapshot.nodes.end() && (*found)->node && (*found)->name() == node ? *found
                                                                                     : nullptr;
}

std::shared_ptr<const model::NodePool> find_pool(const scheduling::Snapshot& snapshot,
                                                 std::string_view name) {
  const auto& pools = snapshot.node_pools;  // sorted by name
  const auto found = std::lower_bound(
      pools.begin(), pools.end(), name,
      [](const auto& pool, std::string_view wanted) { return pool->meta.name < wanted; });
  return found != pools.end() && (*found)->meta.name == name ? *found : nullptr;
}

std::shared_ptr<const model::NodeClass> find_node_class(const scheduling::Snapshot& snapshot,
                                                        const model::NodeClassReference& ref) {
  const auto& classes = snapshot.node_classes;  // sorted by name; several may have one
  auto found = std::lower_bound(
      classes.begin(), classes.end(), ref.name,
      [](const auto& each, std::string_view wanted) { return each->meta.name < wanted; });
  while (found != classes.end() && (*found)->meta.name == ref.name) {
    if (model::reference_to(**found) == ref) {
      return *found;
    }
    ++found;
  }
  return nullptr;
}

bool is_managed(const Services& services, const model::NodeClassReference& ref) {
  return services.providers.find(ref.group, ref.kind) != nullptr;
}

scheduling::Catalog catalog_of(const Services& services, const scheduling::Snapshot& snapshot) {
  scheduling::Catalog catalog;
  for (const auto& pool : snapshot.node_pools) {
    const auto& ref = pool->template_.node_class_ref;
    const cloud::Provider* provider = services.providers.find(ref.group, ref.kind);
    const auto node_class = find_node_class(snapshot, ref);
    if (provider == nullptr || node_class == nullptr) {
      continue;
    }
    auto types = provider->instance_types(*pool, *node_class);
    if (types) {
      catalog.emplace(pool->meta.name, *std::move(types));
    }
  }
  return services.overlays == nullptr ? catalog
                                      : services.overlays->apply(snapshot, catalog).catalog;
}

ClaimPatch ClaimPatch::of_metadata(json::value metadata) {
  return {.metadata = std::move(metadata), .status = nullptr};
}

ClaimPatch ClaimPatch::of_status(json::value status) {
  return {.metadata = nullptr, .status = std::move(status)};
}

namespace {

json::object locked(json::value metadata, const std::string& resource_version) {
  json::object merged = metadata.is_object() ? std::move(metadata.as_object()) : json::object{};
  merged["resourceVersion"] = resource_version;
  return merged;
}

base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> patch_part(
    Services& services, std::shared_ptr<const model::NodeClaim> claim, json::value body,
    std::string subresource) {
  const auto object =
      co_await services.client.patch(model::kNodeClaimResource, model::key_of(claim->meta),
                                     kube::PatchType::Merge, std::move(body), subresource);
  if (!object) {
    if (object.error().kind == base::ErrorKind::NotFound) {
      services.state.withdraw(*claim);
    }
    co_return tl::unexpected(object.error());
  }
  MW_CO_TRY(updated, model::decode<model::NodeClaim>(*object));
  claim = std::make_shared<const model::NodeClaim>(std::move(updated));
  services.state.answered(claim);
  co_return claim;
}

}  // namespace

base::Task<base::Result<std::shared_ptr<const model::NodeClaim>>> patch_claim(
    Services& services, std::shared_ptr<const model::NodeClaim> claim, ClaimPatch patch) {
  if (!patch.metadata.is_null()) {
    json::value body = {
        {"metadata", locked(std::move(patch.metadata), claim->meta.resource_version)}};
    MW_CO_TRY(updated, co_await patch_part(services, claim, std::move(body), ""));
    claim = updated;
  }
  if (!patch.status.is_null()) {
    json::value body = {{"metadata", locked(nullptr, claim->meta.resource_version)},
                        {"status", std::move(patch.status)}};
    MW_CO_TRY(updated, co_await patch_part(services, claim, std::move(body), "status"));
    claim = updated;
  }
  co_return claim;
}

base::Task<base::Result<std::shared_ptr<const model::Node>>> patch_node(
    Services& services, std::shared_ptr<const model::Node> node, json::value patch) {
  auto& body = patch.as_object();
  json::value metadata = body.contains("metadata") ? body["metadata"] : json::value();
  body["metadata"] = locked(std::move(metadata), node->meta.resource_version);
  MW_CO_TRY(object, co_await services.client.patch(model::kNodeResource, model::key_of(node->meta),
                                                   kube::PatchType::Merge, std::move(patch)));
  MW_CO_TRY(updated, model::decode<model::Node>(object));
  auto result = std::make_shared<const model::Node>(std::move(updated));
  services.state.answered(result);
  co_return result;
}

namespace {

// Karpenter's termination mode: whether pods are waited for without end, for a time, or not at all.
std::string termination_mode(const model::NodeClaim& claim) {
  const auto grace = claim.termination_grace_period.value();
  return !grace ? "graceful" : *grace > base::Duration::zero() ? "eventual" : "forceful";
}

void count_disrupted(Services& services, const model::NodeClaim& claim, std::string reason) {
  const auto snapshot = services.state.snapshot();
  const auto pool = find_pool(*snapshot, claim.meta.label(model::kNodePoolLabel));
  const base::MetricLabels labels{{"reason", std::move(reason)},
                                  {"nodepool", claim.meta.label(model::kNodePoolLabel)},
                                  {"capacity_type", claim.meta.label(model::kCapacityTypeLabel)},
                                  {"consolidation_policy", pool ? pool->consolidation_policy : ""},
                                  {"termination_mode", termination_mode(claim)}};
  services.metrics.count("karpenter_nodeclaims_disrupted_total",
                         "NodeClaims whose removal was started, by reason.", labels);
  const auto record = services.state.find_claim(claim.meta.name);
  const auto pods = record ? std::count_if(record->pods.begin(), record->pods.end(),
                                           [](const auto& pod) {
                                             return !model::is_owned_by_daemonset(*pod) &&
                                                    !model::is_mirror(*pod);
                                           })
                           : 0;
  services.metrics.count("karpenter_pods_disruption_initiated_total",
                         "Pods on NodeClaims whose removal was started, those of DaemonSets aside.",
                         labels, static_cast<double>(pods));
}

}  // namespace

base::Task<base::Result<>> delete_node(Services& services,
                                       std::shared_ptr<const model::Node> node) {
  kube::DeleteOptions options;
  options.uid = node->meta.uid;
  co_return ignore_not_found(
      co_await services.client.remove(model::kNodeResource, model::key_of(node->meta), options));
}

base::Task<base::Result<>> delete_claim(Services& services,
                                        std::shared_ptr<const model::NodeClaim> claim,
                                        std::string reason) {
  services.ledger.release_target(claim->meta.name);
  // At once, or the pods that had their room there would be planned onto it again. Not where pods
  // may run: should the deletion fail, others would have been bought for them.
  const auto record = services.state.find_claim(claim->meta.name);
  const bool is_to_be_marked = record && !record->node && !record->marked_for_deletion;
  if (is_to_be_marked) {
    services.state.mark_for_deletion(claim->meta.name, true);
  }
  kube::DeleteOptions options;
  options.uid = claim->meta.uid;
  const auto key = model::key_of(claim->meta);
  const auto removed = co_await services.client.remove(model::kNodeClaimResource, key, options);
  if (const auto outcome = ignore_not_found(removed); !outcome) {
    if (is_to_be_marked) {
      services.state.mark_for_deletion(claim->meta.name, false);
    }
    co_return outcome;
  }
  if (!removed) {
    services.state.withdraw(*claim);
  }
  count_disrupted(services, *claim, reason);
  note_deletion(services, *claim, reason);
  services.log.info("deleting nodeclaim", {{"NodeClaim", claim->meta.name}, {"reason", reason}});
  co_return base::Result<>{};
}

}  // namespace millwright::controllers
