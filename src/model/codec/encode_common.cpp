// Encoding of what every kind shares.
#include "millwright/model/codec.hpp"
#include "millwright/model/conditions.hpp"
#include "model/codec/writer.hpp"

namespace millwright::model {
namespace detail {

namespace json = boost::json;

void put(json::object& to, std::string_view key, const std::string& text) {
  if (!text.empty()) {
    to.emplace(key, text);
  }
}

void put(json::object& to, std::string_view key, const std::optional<base::TimePoint>& time) {
  if (time) {
    to.emplace(key, base::format_rfc3339(*time));
  }
}

void put(json::object& to, std::string_view key, const std::optional<std::int64_t>& number) {
  if (number) {
    to.emplace(key, *number);
  }
}

void put(json::object& to, std::string_view key, const std::optional<std::int32_t>& number) {
  if (number) {
    to.emplace(key, *number);
  }
}

void put(json::object& to, std::string_view key, const std::vector<std::string>& list) {
  if (!list.empty()) {
    to.emplace(key, list_of(list, [](const std::string& text) { return json::value(text); }));
  }
}

void put(json::object& to, std::string_view key, json::value value) {
  const bool empty = value.is_null() || (value.is_object() && value.get_object().empty()) ||
                     (value.is_array() && value.get_array().empty());
  if (!empty) {
    to.emplace(key, std::move(value));
  }
}

void put_flag(json::object& to, std::string_view key, bool flag) {
  if (flag) {
    to.emplace(key, true);
  }
}

void put_number(json::object& to, std::string_view key, std::int64_t number) {
  if (number != 0) {
    to.emplace(key, number);
  }
}

json::value encode_meta(const ObjectMeta& meta) {
  json::object out;
  put(out, "name", meta.name);
  put(out, "generateName", meta.generate_name);
  put(out, "namespace", meta.namespace_);
  put(out, "uid", meta.uid);
  put(out, "resourceVersion", meta.resource_version);
  put_number(out, "generation", meta.generation);
  put(out, "creationTimestamp", meta.creation_timestamp);
  put(out, "deletionTimestamp", meta.deletion_timestamp);
  put(out, "deletionGracePeriodSeconds", meta.deletion_grace_period_seconds);
  put(out, "labels", encode(meta.labels));
  put(out, "annotations", encode(meta.annotations));
  put(out, "finalizers", meta.finalizers);
  put(out, "ownerReferences",
      list_of(meta.owner_references, [](const OwnerReference& owner) { return encode(owner); }));
  return out;
}

json::value encode_taint(const Taint& taint) {
  json::object out{{"key", taint.key}};
  put(out, "value", taint.value);
  out.emplace("effect", taint.effect);
  put(out, "timeAdded", taint.time_added);
  return out;
}

json::value encode_requirement(const SelectorRequirement& requirement) {
  json::object out{{"key", requirement.key}, {"operator", to_string(requirement.op)}};
  put(out, "values", requirement.values);
  put(out, "minValues", requirement.min_values);
  return out;
}

namespace {

json::object encode_condition(const Condition& condition) {
  json::object out{{"type", condition.type}, {"status", status_text(condition.status)}};
  put(out, "lastHeartbeatTime", condition.last_heartbeat_time);
  put(out, "lastTransitionTime", condition.last_transition_time);
  put_number(out, "observedGeneration", condition.observed_generation);
  return out;
}

}  // namespace

json::value encode_core_conditions(const std::vector<Condition>& conditions) {
  return list_of(conditions, [](const Condition& condition) {
    json::object out = encode_condition(condition);
    put(out, "reason", condition.reason);
    put(out, "message", condition.message);
    return out;
  });
}

json::value encode_node_term(const NodeSelectorTerm& term) {
  json::object out;
  put(out, "matchExpressions", encode(term.match_expressions));
  put(out, "matchFields", encode(term.match_fields));
  return out;
}

json::value encode_resources(const ResourceList& requests, const ResourceList& limits) {
  json::object out;
  put(out, "requests", encode(requests));
  put(out, "limits", encode(limits));
  return out;
}

}  // namespace detail

boost::json::value encode(const std::vector<Condition>& conditions) {
  return detail::list_of(conditions, [](const Condition& condition) {
    boost::json::object out = detail::encode_condition(condition);
    out.emplace("reason", condition.reason);
    out.emplace("message", condition.message);
    return out;
  });
}

boost::json::value encode(const std::vector<Taint>& taints) {
  return detail::list_of(taints, detail::encode_taint);
}

boost::json::value encode(const ResourceList& resources) {
  boost::json::object out;
  for (const auto& [name, quantity] : resources) {
    out.emplace(name, quantity.to_string());
  }
  return out;
}

boost::json::value encode(const StringMap& map) {
  boost::json::object out;
  for (const auto& [key, value] : map) {
    out.emplace(key, value);
  }
  return out;
}

boost::json::value encode(const std::vector<SelectorRequirement>& requirements) {
  return detail::list_of(requirements, detail::encode_requirement);
}

boost::json::value encode(const OwnerReference& owner) {
  boost::json::object out{{"apiVersion", owner.api_version},
                          {"kind", owner.kind},
                          {"name", owner.name},
                          {"uid", owner.uid}};
  detail::put_flag(out, "controller", owner.controller);
  detail::put_flag(out, "blockOwnerDeletion", owner.block_owner_deletion);
  return out;
}

boost::json::value encode(const LabelSelector& selector) {
  boost::json::object out;
  detail::put(out, "matchLabels", encode(selector.match_labels));
  detail::put(out, "matchExpressions", encode(selector.match_expressions));
  return out;
}

}  // namespace millwright::model
