#include "controllers/nodeclaim/lifecycle/registration.hpp"

#include "controllers/nodeclaim/lifecycle/initialization.hpp"
#include "millwright/controllers/pools/registration_health.hpp"
#include "millwright/model/json_fields.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

bool is_unregistered_taint(const model::Taint& taint) {
  return taint.key == model::kUnregisteredTaint && taint.effect == "NoExecute";
}

void merge_taints(std::vector<model::Taint>& taints, const std::vector<model::Taint>& more) {
  for (const auto& taint : more) {
    const bool present = std::any_of(taints.begin(), taints.end(), [&](const auto& existing) {
      return existing.key == taint.key && existing.effect == taint.effect;
    });
    if (!present) {
      taints.push_back(taint);
    }
  }
}

// On a Node, which its kubelet may write, these would only look as if they counted.
bool counts_on_claims_alone(std::string_view annotation) {
  return annotation == model::kReservationsAnnotation || annotation == model::kFenceAnnotation;
}

// The Node as registration leaves it, as a merge patch.
json::value registration_patch(const model::Node& node, const model::NodeClaim& claim) {
  json::object labels;
  for (const auto& [key, value] : claim.meta.labels) {
    labels[key] = value;
  }
  labels[model::kRegisteredLabel] = "true";
  // Pods written for the old API are planned by it, whatever the pool came from.
  if (const auto& pool = claim.meta.label(model::kNodePoolLabel); !pool.empty()) {
    labels[model::kProvisionerNameLabel] = pool;
  }
  json::object annotations;
  for (const auto& [key, value] : claim.meta.annotations) {
    if (!counts_on_claims_alone(key)) {
      annotations[key] = value;
    }
  }

  json::array finalizers(node.meta.finalizers.begin(), node.meta.finalizers.end());
  if (!node.meta.has_finalizer(model::kTerminationFinalizer)) {
    finalizers.emplace_back(model::kTerminationFinalizer);
  }
  json::array owners;
  for (const auto& owner : node.meta.owner_references) {
    if (owner.uid != claim.meta.uid) {
      owners.push_back(model::encode(owner));
    }
  }
  owners.push_back(
      model::encode(model::OwnerReference{.api_version = model::kNodeClaimResource.api_version(),
                                          .kind = std::string(model::kNodeClaimResource.kind),
                                          .name = claim.meta.name,
                                          .uid = claim.meta.uid,
                                          .block_owner_deletion = true}));

  std::vector<model::Taint> taints = node.taints;
  // The Node says it: its kubelet was told to register the claim's taints itself.
  if (node.meta.label(model::kDoNotSyncTaintsLabel) != "true") {
    merge_taints(taints, claim.taints);
    merge_taints(taints, claim.startup_taints);
  }
  std::erase_if(taints, is_unregistered_taint);

  return json::object{{"metadata", json::object{{"labels", std::move(labels)},
                                                {"annotations", std::move(annotations)},
                                                {"finalizers", std::move(finalizers)},
                                                {"ownerReferences", std::move(owners)}}},
                      {"spec", json::object{{"taints", model::encode(taints)}}}};
}

void warn_when_untainted(Services& services, const model::Node& node,
                         const model::NodeClaim& claim) {
  const bool tainted = std::any_of(node.taints.begin(), node.taints.end(), is_unregistered_taint);
  if (tainted || !node.meta.label(model::kRegisteredLabel).empty()) {
    return;
  }
  services.events.record(
      {.object = kube::reference_to(model::kNodeClaimResource, claim.meta),
       .warning = true,
       .reason = "UnregisteredTaintMissing",
       .message = "Node " + node.meta.name +
                  " joined without the taint karpenter.sh/unregistered:NoExecute; pods may land "
                  "on it before it is registered",
       .dedupe_values = {}});
}

// Controllers of CCE and ACK may put back the taints that a node was made with, as those of their
// Karpenter providers know (node.unregisteredtaint). Pods would be evicted by it.
ClaimReply take_taint_off_again(Services& services, ClaimPtr claim) {
  const auto record = services.state.find_claim(claim->meta.name);
  if (!record || !record->node || !is_registered_for(*record->node, *claim)) {
    co_return claim;
  }
  const auto node = record->node;
  auto taints = node->taints;
  if (std::erase_if(taints, is_unregistered_taint) == 0) {
    co_return claim;
  }
  json::value patch = json::object{{"spec", json::object{{"taints", model::encode(taints)}}}};
  MW_CO_CHECK(co_await patch_node(services, node, std::move(patch)));
  services.log.info("took karpenter.sh/unregistered off a registered node once more",
                    {{"NodeClaim", claim->meta.name}, {"Node", node->meta.name}});
  co_return claim;
}

// The machine has joined as another Node than the one that the claim has registered, which was
// deleted past its finalizer, had another name, or is another machine's that lied about its
// provider id. Nobody would initialize this one, or ever consolidate it. While the registered Node
// exists, another one of the machine gets no finalizer. The claim names its Node last, after that
// was written: until then all is done again.
bool came_back(Services& services, const model::Node& node, const model::NodeClaim& claim) {
  if (!claim.node_name.empty() && node.meta.name != claim.node_name) {
    const auto before = services.state.joined_by_node(claim.node_name).node;
    return before == nullptr || before->provider_id != claim.provider_id;
  }
  const auto* registered = model::find_condition(claim.conditions, model::kRegistered);
  return !is_registered_for(node, claim) && registered->last_transition_time &&
         node.meta.creation_timestamp &&
         *registered->last_transition_time < *node.meta.creation_timestamp;
}

// The Node of a registered claim is gone past its finalizer, or its name is another machine's now.
// Its pods are no more, and its kubelet registers again only when it starts. Until then the claim
// awaits its Node as it did at first, and is given up when its time for that is over: it would
// count as room for ever. A late watch is not believed.
ClaimReply await_node_again(Services& services, ClaimPtr claim) {
  if (claim->node_name.empty()) {
    co_return claim;
  }
  const model::ObjectKey key{.namespace_ = {}, .name = claim->node_name};
  const auto object = co_await services.client.get(model::kNodeResource, key);
  MW_CO_CHECK(ignore_not_found(object));
  if (object && model::text_at(*object, "spec.providerID") == claim->provider_id) {
    co_return claim;
  }
  services.log.warn("the node of a nodeclaim is gone, its machine may join once more",
                    {{"NodeClaim", claim->meta.name}, {"Node", claim->node_name}});
  co_return co_await edit_conditions(services, claim, [](model::ConditionSet& set) {
    set_awaits_node(set);
    set.set_unknown(model::kInitialized, "NodeNotFound", "The Node is gone");
  });
}

}  // namespace

bool is_registered_for(const model::Node& node, const model::NodeClaim& claim) {
  const auto& owners = node.meta.owner_references;
  return node.meta.label(model::kRegisteredLabel) == "true" &&
         node.meta.has_finalizer(model::kTerminationFinalizer) &&
         std::any_of(owners.begin(), owners.end(),
                     [&](const auto& owner) { return owner.uid == claim.meta.uid; });
}

void set_awaits_node(model::ConditionSet& set) {
  set.set_unknown(model::kRegistered, "NodeNotFound",
                  "The instance has not joined the cluster as a Node yet");
}

ClaimReply register_node(Services& services, ClaimPtr claim) {
  const auto record = services.state.find_claim(claim->meta.name);
  const bool again = record && record->node &&
                     model::is_true(claim->conditions, model::kRegistered) &&
                     came_back(services, *record->node, *claim);
  if (model::is_true(claim->conditions, model::kRegistered) && !again) {
    if (record && !record->node) {
      co_return co_await await_node_again(services, claim);
    }
    co_return co_await take_taint_off_again(services, claim);
  }
  if ((!is_undecided(claim, model::kRegistered) && !again) || claim->provider_id.empty()) {
    co_return claim;
  }
  if (!record || !record->node) {
    co_return co_await edit_conditions(services, claim, set_awaits_node);
  }
  auto node = record->node;
  warn_when_untainted(services, *node, *claim);
  const auto pool = find_pool(*services.state.snapshot(), claim->meta.label(model::kNodePoolLabel));
  if (again) {
    // First, so that the Node is initialized whatever becomes of the next writes.
    const auto forget = [&](model::ConditionSet& set) {
      set.set_unknown(model::kInitialized, "NodeReplaced",
                      "The machine has joined once more, as Node " + node->meta.name);
    };
    MW_CO_TRY(uninitialized, co_await edit_conditions(services, claim, forget));
    claim = uninitialized;
  }
  if (!is_registered_for(*node, *claim)) {
    MW_CO_TRY(patched, co_await patch_node(services, node, registration_patch(*node, *claim)));
    node = patched;
  }
  services.ledger.rename_target(claim->meta.name, node->meta.name);
  services.log.info("registered nodeclaim",
                    {{"NodeClaim", claim->meta.name}, {"Node", node->meta.name}});
  services.metrics.count("karpenter_nodes_created_total", "Nodes that registered.",
                         {{"nodepool", claim->meta.label(model::kNodePoolLabel)},
                          {"zone", claim->meta.label(model::kZoneLabel)}});
  json::object status{{"nodeName", node->meta.name}};
  const auto edit = [&](model::ConditionSet& set) {
    set.set_true(model::kRegistered);
    set_initialization_obstacle(set, services, *node, *claim);
  };
  auto registered = co_await edit_conditions(services, claim, edit, std::move(status));
  if (registered && pool) {
    services.registration_health.succeeded(*pool, *claim);
  }
  co_return registered;
}

}  // namespace millwright::controllers
