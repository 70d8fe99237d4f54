// Decoding of what every kind shares: metadata, conditions, taints, selectors.
#include "millwright/model/codec.hpp"
#include "model/codec/reader.hpp"

#include <boost/json/value.hpp>

namespace millwright::model {
namespace detail {

void read(const Reader& reader, OwnerReference& out) {
  reader.field("apiVersion", out.api_version);
  reader.field("kind", out.kind);
  reader.field("name", out.name);
  reader.field("uid", out.uid);
  reader.field("controller", out.controller);
  reader.field("blockOwnerDeletion", out.block_owner_deletion);
}

void read(const Reader& reader, ObjectMeta& out) {
  reader.field("name", out.name);
  reader.field("generateName", out.generate_name);
  reader.field("namespace", out.namespace_);
  reader.field("uid", out.uid);
  reader.field("resourceVersion", out.resource_version);
  reader.field("generation", out.generation);
  reader.field("creationTimestamp", out.creation_timestamp);
  reader.field("deletionTimestamp", out.deletion_timestamp);
  reader.field("deletionGracePeriodSeconds", out.deletion_grace_period_seconds);
  reader.field("labels", out.labels);
  reader.field("annotations", out.annotations);
  reader.field("finalizers", out.finalizers);
  reader.field("ownerReferences", out.owner_references);
}

void read_slim(const Reader& object, ObjectMeta& out) {
  object.field("metadata", out);
  out.labels.clear();
  out.annotations.clear();
  out.owner_references.clear();
}

void read(const Reader& reader, Condition& out) {
  reader.field("type", out.type);
  std::string status;
  reader.field("status", status);
  // Whatever else a controller may write is no more than Unknown.
  if (status == "True") {
    out.status = ConditionStatus::True;
  } else if (status == "False") {
    out.status = ConditionStatus::False;
  } else {
    out.status = ConditionStatus::Unknown;
  }
  reader.field("reason", out.reason);
  reader.field("message", out.message);
  reader.field("lastTransitionTime", out.last_transition_time);
  reader.field("lastHeartbeatTime", out.last_heartbeat_time);
  reader.field("observedGeneration", out.observed_generation);
}

void read(const Reader& reader, Taint& out) {
  reader.field("key", out.key);
  reader.field("value", out.value);
  reader.field("effect", out.effect);
  reader.field("timeAdded", out.time_added);
}

void read(const Reader& reader, Toleration& out) {
  reader.field("key", out.key);
  reader.field("operator", out.op);
  reader.field("value", out.value);
  reader.field("effect", out.effect);
  reader.field("tolerationSeconds", out.toleration_seconds);
}

void read(const Reader& reader, SelectorRequirement& out) {
  reader.field("key", out.key);
  reader.at("operator", [&out](const Reader& at) {
    std::string text;
    read(at, text);
    if (const auto op = parse_operator(text)) {
      out.op = *op;
    } else {
      at.fail("\"" + text +
              "\" is not an operator; use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte");
    }
  });
  reader.field("values", out.values);
  reader.field("minValues", out.min_values);
}

void read(const Reader& reader, LabelSelector& out) {
  reader.field("matchLabels", out.match_labels);
  reader.field("matchExpressions", out.match_expressions);
}

void read(const Reader& reader, NodeSelectorTerm& out) {
  reader.field("matchExpressions", out.match_expressions);
  reader.field("matchFields", out.match_fields);
}

}  // namespace detail

base::Result<ObjectMeta> decode_meta(const boost::json::value& object) {
  std::string problem;
  ObjectMeta meta;
  detail::Reader(object, problem).field("metadata", meta);
  if (!problem.empty()) {
    return tl::unexpected(detail::object_error("object", object, problem));
  }
  return meta;
}

base::Result<LabelSelector> decode_label_selector(const boost::json::value& json) {
  std::string problem;
  LabelSelector selector;
  read(detail::Reader(json, problem), selector);
  if (!problem.empty()) {
    return base::fail(base::ErrorKind::Invalid, "label selector: " + problem);
  }
  return selector;
}

}  // namespace millwright::model
