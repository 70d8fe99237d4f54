#include "controllers/nodeclaim/lifecycle/launch.hpp"

#include "controllers/nodeclaim/lifecycle/registration.hpp"
#include "controllers/provisioning/open_demand.hpp"
#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/controllers/provisioning/overlays.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

// Deletes the claim: what waits for it is planned again.
ClaimReply give_up(Services& services, ClaimPtr claim, base::Error error) {
  const bool no_capacity = error.kind == base::ErrorKind::NoCapacity;
  services.log.error("failed launching nodeclaim",
                     {{"NodeClaim", claim->meta.name}, {"error", error.message}});
  MW_CO_CHECK(co_await delete_claim(services, claim,
                                    no_capacity ? "insufficient_capacity" : "nodeclass_not_ready"));
  co_return ClaimPtr{};
}

// Adds resources that a device plugin will report later and only a NodeOverlay knows of now.
// Otherwise pods that want them would be bought for twice.
void add_overlay_capacity(const Services& services, const model::NodeClaim& claim,
                          cloud::Instance& instance) {
  if (services.overlays == nullptr) {
    return;
  }
  const auto type = instance.labels.find(model::kInstanceTypeLabel);
  const auto* change =
      type == instance.labels.end()
          ? nullptr
          : services.overlays->change(claim.meta.label(model::kNodePoolLabel), type->second);
  if (change == nullptr) {
    return;
  }
  for (const auto& [resource, amount] : change->capacity) {
    instance.capacity.insert_or_assign(resource, amount);
    instance.allocatable.insert_or_assign(resource, amount);
  }
}

// Strips resources that only a NodeOverlay provides: clouds reject requests they don't know. The
// plan has chosen instance types that have them.
ClaimPtr without_overlay_requests(const Services& services, const ClaimPtr& claim) {
  const auto& pool = claim->meta.label(model::kNodePoolLabel);
  const auto is_provided = [&](const auto& request) {
    return services.overlays != nullptr && services.overlays->provides(pool, request.first);
  };
  if (std::none_of(claim->requests.begin(), claim->requests.end(), is_provided)) {
    return claim;
  }
  auto asked = std::make_shared<model::NodeClaim>(*claim);
  std::erase_if(asked->requests, is_provided);
  return asked;
}

ClaimReply record_launch(Services& services, ClaimPtr claim, cloud::Instance instance) {
  add_overlay_capacity(services, *claim, instance);
  model::StringMap labels = std::move(instance.labels);
  for (const auto& [key, value] : claim->meta.labels) {
    labels[key] = value;
  }
  model::StringMap annotations = claim->meta.annotations;
  for (const auto& [key, value] : instance.annotations) {
    annotations[key] = value;
  }
  json::object metadata{{"labels", model::encode(labels)},
                        {"annotations", model::encode(annotations)}};
  MW_CO_TRY(labelled,
            co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata))));
  json::object status{{"providerID", instance.provider_id},
                      {"imageID", instance.image_id},
                      {"capacity", model::encode(instance.capacity)},
                      {"allocatable", model::encode(instance.allocatable)}};
  const auto edit = [](model::ConditionSet& set) {
    set.set_true(model::kLaunched);
    set_awaits_node(set);
  };
  auto launched = co_await edit_conditions(services, labelled, edit, std::move(status));
  if (launched) {
    services.log.info("launched nodeclaim",
                      {{"NodeClaim", claim->meta.name},
                       {"provider-id", instance.provider_id},
                       {"instance-type", (*launched)->meta.label(model::kInstanceTypeLabel)},
                       {"zone", (*launched)->meta.label(model::kZoneLabel)},
                       {"capacity-type", (*launched)->meta.label(model::kCapacityTypeLabel)}});
  }
  co_return launched;
}

// Pods like those that it was bought for wait for a plan. A new leader may have heard of them later
// than of the claim, and nothing is reserved for them then.
bool is_about_to_be_needed(const Services& services, const model::NodeClaim& claim,
                           const scheduling::Snapshot& snapshot) {
  const auto bought_for = cluster::decode_reservations(
      claim.meta.annotation(model::kReservationsAnnotation), claim.meta.name);
  const OpenDemand open(services, snapshot);
  return bought_for && std::any_of(bought_for->begin(), bought_for->end(), [&](const auto& each) {
           const auto* demand = scheduling::find_demand(snapshot.demand, each.group);
           return demand != nullptr && open.open(*demand) > 0;
         });
}

// It was bought for pods, and all of them have found room elsewhere or are gone.
bool nobody_needs(Services& services, const model::NodeClaim& claim) {
  const auto snapshot = services.state.snapshot();
  if (claim.meta.annotation(model::kReservationsAnnotation).empty() || !snapshot->synced ||
      services.ledger.view()->by_target.contains(claim.meta.name) ||
      is_about_to_be_needed(services, claim, *snapshot)) {
    return false;
  }
  return services.buffers == nullptr || !services.buffers->is_on(claim.meta.name);
}

// Success when the API server, too, has no such NodeClass: a watch may be late, or not be allowed.
base::Task<base::Result<>> confirm_missing(Services& services, model::NodeClassReference ref) {
  const auto kinds = services.providers.find(ref.group, ref.kind)->node_classes();
  for (const model::Resource& resource : kinds) {
    if (!ref.is_of(resource)) {
      continue;
    }
    kube::ListOptions of_that_name;
    of_that_name.field_selector = "metadata.name=" + ref.name;
    const auto found = co_await services.client.list(resource, std::move(of_that_name));
    MW_CO_CHECK(ignore_not_found(found));
    if (found && !found->items.empty()) {
      co_return base::fail(base::ErrorKind::Unavailable,
                           ref.kind + " " + ref.name + " exists, and is not seen here yet");
    }
  }
  co_return base::Result<>{};
}

// The finalizer must exist before the cloud is called, or a deletion could leave an instance
// behind.
ClaimReply add_finalizer(Services& services, ClaimPtr claim) {
  if (claim->meta.has_finalizer(model::kTerminationFinalizer)) {
    co_return claim;
  }
  json::array finalizers(claim->meta.finalizers.begin(), claim->meta.finalizers.end());
  finalizers.emplace_back(model::kTerminationFinalizer);
  json::object metadata{{"finalizers", std::move(finalizers)}};
  co_return co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata)));
}

}  // namespace

ClaimReply launch(Services& services, LaunchFailures* failures, ClaimPtr claim) {
  if (!is_undecided(claim, model::kLaunched)) {
    co_return claim;
  }
  MW_CO_TRY(protected_claim, co_await add_finalizer(services, claim));
  const auto& ref = protected_claim->node_class_ref;
  const auto node_class = find_node_class(*services.state.snapshot(), ref);
  if (!node_class) {
    MW_CO_CHECK(co_await confirm_missing(services, ref));
    base::Error missing{
        base::ErrorKind::NotReady, ref.kind + " " + ref.name + " does not exist; create it", {}};
    failures->tell(*protected_claim, missing);
    co_return co_await give_up(services, protected_claim, std::move(missing));
  }
  if (nobody_needs(services, *protected_claim)) {
    services.log.info("deleting a nodeclaim before its launch: no pod needs it any more",
                      {{"NodeClaim", protected_claim->meta.name}});
    MW_CO_CHECK(co_await delete_claim(services, protected_claim, "unneeded"));
    co_return ClaimPtr{};
  }
  cloud::Provider* provider = services.providers.find(ref.group, ref.kind);
  const auto asked = without_overlay_requests(services, protected_claim);
  auto created = co_await provider->create(asked, node_class);
  // The claim may have changed during the call; the outcome is written on its present version. The
  // last leader may have launched it, and a late watch may have shown that now: what came of it
  // stays. A second instance of the claim is garbage-collected.
  if (const auto now = services.state.find_claim(protected_claim->meta.name);
      now && now->claim->meta.uid == protected_claim->meta.uid) {
    if (!is_undecided(now->claim, model::kLaunched)) {
      co_return now->claim;
    }
    protected_claim = now->claim;
  }
  if (created) {
    co_return co_await record_launch(services, protected_claim, *std::move(created));
  }
  base::Error error = std::move(created).error();
  failures->tell(*protected_claim, error);
  if (error.kind == base::ErrorKind::NoCapacity || error.kind == base::ErrorKind::NotReady) {
    co_return co_await give_up(services, protected_claim, std::move(error));
  }
  const std::string message = shortened(error.message);
  const auto edit = [&message](model::ConditionSet& set) {
    set.set_unknown(model::kLaunched, model::kLaunchFailed, message);
  };
  auto noted = co_await edit_conditions(services, protected_claim, edit);
  co_return base::with_context("launching NodeClaim " + protected_claim->meta.name,
                               std::move(error));
}

}  // namespace millwright::controllers
