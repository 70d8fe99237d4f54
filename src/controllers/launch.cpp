#include "controllers/launch.hpp"

#include "millwright/controllers/overlays.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr std::size_t kMessageLimit = 300;

std::string shortened(std::string message) {
  if (message.size() > kMessageLimit) {
    message.resize(kMessageLimit);
    message += "...";
  }
  return message;
}

ClaimReply give_up(Services& services, ClaimPtr claim, base::Error error) {
  const bool no_capacity = error.kind == base::ErrorKind::NoCapacity;
  services.log.error("failed launching nodeclaim",
                     {{"NodeClaim", claim->meta.name}, {"error", error.message}});
  services.events.record(
      {.object = kube::reference_to(model::kNodeClaimResource, claim->meta),
       .warning = true,
       .reason = no_capacity ? "InsufficientCapacityError" : "NodeClassNotReady",
       .message = "NodeClaim " + claim->meta.name + " event: " + shortened(error.message),
       .dedupe_values = {}});
  auto deleted = co_await delete_claim(
      services, claim, no_capacity ? "insufficient_capacity" : "nodeclass_not_ready");
  if (!deleted) {
    co_return tl::unexpected(std::move(deleted).error());
  }
  co_return ClaimPtr{};
}

// Resources that a device plugin will report later, and only a NodeOverlay knows of now: counted
// from the launch on, or pods that want them would be bought for twice.
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

// As the cloud is asked for it: clouds hold the requests to what they know of their types, which is
// nothing of an overlay's resources. The plan has chosen types that have them.
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
  auto patched =
      co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata)));
  MW_CO_TRY(labelled, std::move(patched));
  json::object status{{"providerID", instance.provider_id},
                      {"imageID", instance.image_id},
                      {"capacity", model::encode(instance.capacity)},
                      {"allocatable", model::encode(instance.allocatable)}};
  auto launched = co_await edit_conditions(
      services, labelled, [](model::ConditionSet& set) { set.set_true(model::kLaunched); },
      std::move(status));
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

// Karpenter's finalizer must exist before the cloud is called, or a delete could lose an instance.
ClaimReply ensure_finalizer(Services& services, ClaimPtr claim) {
  if (claim->meta.has_finalizer(model::kTerminationFinalizer)) {
    co_return claim;
  }
  json::array finalizers(claim->meta.finalizers.begin(), claim->meta.finalizers.end());
  finalizers.emplace_back(model::kTerminationFinalizer);
  json::object metadata{{"finalizers", std::move(finalizers)}};
  auto patched =
      co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata)));
  co_return patched;
}

}  // namespace

ClaimReply launch(Services& services, ClaimPtr claim) {
  if (!is_undecided(claim, model::kLaunched)) {
    co_return claim;
  }
  auto finalized = co_await ensure_finalizer(services, claim);
  MW_CO_TRY(durable, std::move(finalized));
  const auto& ref = durable->node_class_ref;
  const auto node_class = find_node_class(*services.state.snapshot(), ref);
  if (!node_class) {
    base::Error missing{
        base::ErrorKind::NotReady, ref.kind + " " + ref.name + " does not exist; create it", {}};
    auto given_up = co_await give_up(services, durable, std::move(missing));
    co_return given_up;
  }
  cloud::Provider* provider = services.providers.find(ref.group, ref.kind);
  const auto asked = without_overlay_requests(services, durable);
  auto created = co_await provider->create(asked, node_class);
  // The call took a while; what it is recorded on is the claim as it is now.
  if (const auto now = services.state.find_claim(durable->meta.name);
      now && now->claim->meta.uid == durable->meta.uid) {
    durable = now->claim;
  }
  if (created) {
    auto recorded = co_await record_launch(services, durable, *std::move(created));
    co_return recorded;
  }
  base::Error error = std::move(created).error();
  if (error.kind == base::ErrorKind::NoCapacity || error.kind == base::ErrorKind::NotReady) {
    auto given_up = co_await give_up(services, durable, std::move(error));
    co_return given_up;
  }
  const std::string message = shortened(error.message);
  const auto edit = [&message](model::ConditionSet& set) {
    set.set_unknown(model::kLaunched, "LaunchFailed", message);
  };
  auto noted = co_await edit_conditions(services, durable, edit);
  co_return base::with_context("launching NodeClaim " + durable->meta.name, std::move(error));
}

}  // namespace millwright::controllers
