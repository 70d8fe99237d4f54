// Encoding of Node and of Karpenter's kinds.
#include "millwright/model/codec.hpp"
#include "model/codec/writer.hpp"

namespace millwright::model {
namespace {

namespace json = boost::json;
using detail::put;
using detail::put_number;

json::object encode_reference(const NodeClassReference& reference) {
  return {{"group", reference.group}, {"kind", reference.kind}, {"name", reference.name}};
}

json::object encode_template(const NodeClaimTemplate& node_claim_template) {
  json::object meta;
  // Present but empty is kept: it changes the NodePool hash.
  if (node_claim_template.labels) {
    meta.emplace("labels", encode(*node_claim_template.labels));
  }
  if (node_claim_template.annotations) {
    meta.emplace("annotations", encode(*node_claim_template.annotations));
  }
  json::object spec;
  if (node_claim_template.taints) {
    spec.emplace("taints", encode(*node_claim_template.taints));
  }
  if (node_claim_template.startup_taints) {
    spec.emplace("startupTaints", encode(*node_claim_template.startup_taints));
  }
  spec.emplace("requirements", encode(node_claim_template.requirements));
  spec.emplace("nodeClassRef", encode_reference(node_claim_template.node_class_ref));
  put(spec, "terminationGracePeriod", node_claim_template.termination_grace_period.text);
  put(spec, "expireAfter", node_claim_template.expire_after.text);
  json::object out;
  put(out, "metadata", std::move(meta));
  out.emplace("spec", std::move(spec));
  return out;
}

json::object encode_budget(const DisruptionBudget& budget) {
  json::object out{{"nodes", budget.nodes}};
  put(out, "reasons", budget.reasons);
  put(out, "schedule", budget.schedule);
  put(out, "duration", budget.duration);
  return out;
}

json::object encode_pool_spec(const NodePool& pool) {
  json::object disruption;
  put(disruption, "consolidateAfter", pool.consolidate_after.text);
  put(disruption, "consolidationPolicy", pool.consolidation_policy);
  // An empty list means no limit and absence means the default, so it is always written.
  disruption.emplace("budgets", detail::list_of(pool.budgets, encode_budget));
  json::object out{{"template", encode_template(pool.template_)},
                   {"disruption", std::move(disruption)}};
  if (pool.limits) {
    out.emplace("limits", encode(*pool.limits));
  }
  put_number(out, "weight", pool.weight);
  put(out, "replicas", pool.replicas);
  return out;
}

json::object encode_pool_status(const NodePool& pool) {
  json::object out;
  put(out, "resources", encode(pool.resources));
  put_number(out, "nodes", pool.nodes);
  put_number(out, "nodeClassObservedGeneration", pool.node_class_observed_generation);
  put(out, "conditions", encode(pool.conditions));
  return out;
}

json::object encode_claim_spec(const NodeClaim& claim) {
  json::object out;
  put(out, "taints", encode(claim.taints));
  put(out, "startupTaints", encode(claim.startup_taints));
  out.emplace("requirements", encode(claim.requirements));
  put(out, "resources", detail::encode_resources(claim.requests, {}));
  out.emplace("nodeClassRef", encode_reference(claim.node_class_ref));
  put(out, "terminationGracePeriod", claim.termination_grace_period.text);
  put(out, "expireAfter", claim.expire_after.text);
  return out;
}

json::object encode_claim_status(const NodeClaim& claim) {
  json::object out;
  put(out, "nodeName", claim.node_name);
  put(out, "providerID", claim.provider_id);
  put(out, "imageID", claim.image_id);
  put(out, "capacity", encode(claim.capacity));
  put(out, "allocatable", encode(claim.allocatable));
  put(out, "lastPodEventTime", claim.last_pod_event_time);
  put(out, "conditions", encode(claim.conditions));
  return out;
}

}  // namespace

json::value encode(const Node& node) {
  json::object spec;
  put(spec, "providerID", node.provider_id);
  detail::put_flag(spec, "unschedulable", node.unschedulable);
  put(spec, "taints", encode(node.taints));
  json::object status;
  put(status, "capacity", encode(node.capacity));
  put(status, "allocatable", encode(node.allocatable));
  put(status, "conditions", detail::encode_core_conditions(node.conditions));
  json::object out{{"apiVersion", "v1"},
                   {"kind", "Node"},
                   {"metadata", detail::encode_meta(node.meta)},
                   {"spec", std::move(spec)}};
  put(out, "status", std::move(status));
  return out;
}

json::value encode(const NodePool& pool) {
  json::object out{{"apiVersion", "karpenter.sh/v1"},
                   {"kind", "NodePool"},
                   {"metadata", detail::encode_meta(pool.meta)},
                   {"spec", encode_pool_spec(pool)}};
  put(out, "status", encode_pool_status(pool));
  return out;
}

json::value encode(const NodeClaim& claim) {
  json::object out{{"apiVersion", "karpenter.sh/v1"},
                   {"kind", "NodeClaim"},
                   {"metadata", detail::encode_meta(claim.meta)},
                   {"spec", encode_claim_spec(claim)}};
  put(out, "status", encode_claim_status(claim));
  return out;
}

json::value encode(const NodeOverlay& overlay) {
  json::object spec{{"requirements", encode(overlay.requirements)}};
  put(spec, "price", overlay.price);
  put(spec, "priceAdjustment", overlay.price_adjustment);
  put(spec, "capacity", encode(overlay.capacity));
  put_number(spec, "weight", overlay.weight);
  json::object out{{"apiVersion", "karpenter.sh/v1alpha1"},
                   {"kind", "NodeOverlay"},
                   {"metadata", detail::encode_meta(overlay.meta)},
                   {"spec", std::move(spec)}};
  json::object status;
  put(status, "conditions", encode(overlay.conditions));
  put(out, "status", std::move(status));
  return out;
}

}  // namespace millwright::model
