#include "millwright/telemetry/condition_watch.hpp"

#include "millwright/model/conditions.hpp"
#include "telemetry/text.hpp"

#include <algorithm>
#include <utility>

namespace millwright::telemetry {
namespace {

// operatorpkg's: 0.5 s, doubled fourteen times.
const std::vector<double>& buckets() {
  static const std::vector<double> kBuckets = [] {
    std::vector<double> bounds{0.5};
    while (bounds.size() < 15) {
      bounds.push_back(bounds.back() * 2);
    }
    return bounds;
  }();
  return kBuckets;
}

// "karpenter.k8s.aws/ec2nodeclass", whatever the cloud.
bool names_node_class(std::string_view key) {
  return key.starts_with("karpenter.") && key.ends_with("nodeclass");
}

std::string metric(std::string_view kind, std::string_view name) {
  return std::string("operator_").append(kind).append("_").append(name);
}

}  // namespace

base::MetricLabels condition_labels(const model::NodeClaim& claim) {
  base::MetricLabels labels{
      {label_name(model::kNodePoolLabel), claim.meta.label(model::kNodePoolLabel)}};
  if (!claim.node_class_ref.kind.empty()) {
    labels.emplace(label_name(claim.node_class_ref.label_key()), claim.node_class_ref.name);
  }
  return labels;
}

base::MetricLabels condition_labels(const model::Node& node) {
  base::MetricLabels labels{
      {label_name(model::kNodePoolLabel), node.meta.label(model::kNodePoolLabel)},
      {label_name(model::kInitializedLabel), node.meta.label(model::kInitializedLabel)}};
  for (const auto& [key, value] : node.meta.labels) {
    if (names_node_class(key)) {
      labels.emplace(label_name(key), value);
    }
  }
  return labels;
}

base::MetricLabels condition_labels(const model::NodePool& /*pool*/) {
  return {};
}

base::MetricLabels condition_labels(const model::CapacityBuffer& /*buffer*/) {
  return {};
}

void forget_conditions_of_pool(base::Metrics& metrics, const std::string& pool) {
  metrics.forget(label_name(model::kNodePoolLabel), pool);
}

void forget_conditions_of(base::Metrics& metrics, const model::NodeClassReference& node_class) {
  metrics.forget(label_name(node_class.label_key()), node_class.name);
}

void ConditionWatch::changed(std::string_view kind, const base::MetricLabels& labels,
                             const model::Condition* before, const model::Condition& after) {
  base::MetricLabels now = labels;
  now["type"] = after.type;
  now["status"] = model::status_text(after.status);
  now["reason"] = after.reason;
  metrics_.count(metric(kind, "status_condition_transitions_total"),
                 "Changes of a condition to the status.", now);
  if (before != nullptr && before->last_transition_time && after.last_transition_time) {
    base::MetricLabels then = labels;
    then["type"] = before->type;
    then["status"] = model::status_text(before->status);
    const std::chrono::duration<double> held =
        *after.last_transition_time - *before->last_transition_time;
    metrics_.observe(metric(kind, "status_condition_transition_seconds"),
                     "How long a condition had the status before it changed.", then,
                     std::max(0.0, held.count()), buckets());
  }
}

void ConditionWatch::seen(std::string_view kind, const model::ObjectMeta& meta,
                          const std::vector<model::Condition>& conditions,
                          base::MetricLabels labels) {
  const auto [entry, first] = last_.try_emplace(meta.uid);
  Last& last = entry->second;
  for (const auto& condition : conditions) {
    const auto* before = model::find_condition(last.conditions, condition.type);
    // The first sight of an object is no transition.
    if (!first && chronicle_.leading() &&
        (before == nullptr || before->status != condition.status)) {
      changed(kind, labels, before, condition);
    }
  }
  last.conditions = conditions;
  last.deleted = meta.deletion_timestamp;
  last.labels = std::move(labels);
}

void ConditionWatch::gone(std::string_view kind, std::string_view uid, base::TimePoint now) {
  const auto found = last_.find(std::string(uid));
  if (found == last_.end()) {
    return;
  }
  if (found->second.deleted && chronicle_.leading()) {
    const std::chrono::duration<double> took = now - *found->second.deleted;
    metrics_.observe(metric(kind, "termination_duration_seconds"),
                     "From an object's deletion until it was gone.", found->second.labels,
                     std::max(0.0, took.count()), buckets());
  }
  last_.erase(found);
}

}  // namespace millwright::telemetry
