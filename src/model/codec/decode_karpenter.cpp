#include "millwright/model/codec.hpp"
#include "model/codec/reader.hpp"

namespace millwright::model {
namespace detail {

// Not in an unnamed namespace: Reader::field finds these by argument-dependent lookup.
void read(const Reader& reader, NillableDuration& out) {
  read(reader, out.text);
}

void read(const Reader& reader, NodeClassReference& out) {
  reader.field("group", out.group);
  reader.field("kind", out.kind);
  reader.field("name", out.name);
}

void read(const Reader& reader, NodeClaimTemplate& out) {
  reader.field("metadata.labels", out.labels);
  reader.field("metadata.annotations", out.annotations);
  reader.at("spec", [&out](const Reader& spec) {
    spec.field("taints", out.taints);
    spec.field("startupTaints", out.startup_taints);
    spec.field("requirements", out.requirements);
    spec.field("nodeClassRef", out.node_class_ref);
    spec.field("terminationGracePeriod", out.termination_grace_period);
    spec.field("expireAfter", out.expire_after);
  });
}

void read(const Reader& reader, DisruptionBudget& out) {
  reader.field("nodes", out.nodes);
  reader.field("reasons", out.reasons);
  reader.field("schedule", out.schedule);
  reader.field("duration", out.duration);
}

void read(const Reader& reader, NodePool& out) {
  reader.field("metadata", out.meta);
  reader.at("spec", [&out](const Reader& spec) {
    spec.field("template", out.template_);
    spec.field("disruption.consolidateAfter", out.consolidate_after);
    spec.field("disruption.consolidationPolicy", out.consolidation_policy);
    // An empty list is kept: no budget limits anything then.
    spec.field("disruption.budgets", out.budgets);
    spec.field("limits", out.limits);
    spec.field("weight", out.weight);
    spec.field("replicas", out.replicas);
  });
  reader.field("status.resources", out.resources);
  reader.field("status.nodes", out.nodes);
  reader.field("status.nodeClassObservedGeneration", out.node_class_observed_generation);
  reader.field("status.conditions", out.conditions);
}

void read(const Reader& reader, NodeClaim& out) {
  reader.field("metadata", out.meta);
  reader.at("spec", [&out](const Reader& spec) {
    spec.field("taints", out.taints);
    spec.field("startupTaints", out.startup_taints);
    spec.field("requirements", out.requirements);
    spec.field("resources.requests", out.requests);
    spec.field("nodeClassRef", out.node_class_ref);
    spec.field("terminationGracePeriod", out.termination_grace_period);
    spec.field("expireAfter", out.expire_after);
  });
  reader.at("status", [&out](const Reader& status) {
    status.field("nodeName", out.node_name);
    status.field("providerID", out.provider_id);
    status.field("imageID", out.image_id);
    status.field("capacity", out.capacity);
    status.field("allocatable", out.allocatable);
    status.field("lastPodEventTime", out.last_pod_event_time);
    status.field("conditions", out.conditions);
  });
}

void read(const Reader& reader, NodeClass& out) {
  reader.field("metadata", out.meta);
  reader.field("apiVersion", out.api_version);
  reader.field("kind", out.kind);
  // Assignment copies into the default memory resource: the source may live in a request's arena.
  reader.at("spec", [&out](const Reader& spec) { out.spec = spec.value(); });
  reader.at("status", [&out](const Reader& status) { out.status = status.value(); });
  reader.field("status.conditions", out.conditions);
}

}  // namespace detail

template <>
base::Result<NodePool> decode<NodePool>(const boost::json::value& json) {
  return detail::decode_object<NodePool>("NodePool", json);
}
template <>
base::Result<NodeClaim> decode<NodeClaim>(const boost::json::value& json) {
  return detail::decode_object<NodeClaim>("NodeClaim", json);
}
template <>
base::Result<NodeClass> decode<NodeClass>(const boost::json::value& json) {
  std::string problem;
  NodeClass node_class;
  read(detail::Reader(json, problem), node_class);
  if (!problem.empty()) {
    const std::string kind = node_class.kind.empty() ? "NodeClass" : node_class.kind;
    return tl::unexpected(detail::object_error(kind, json, problem));
  }
  return node_class;
}

}  // namespace millwright::model
