// Gauges of the conditions of NodeClaims, NodePools, nodes, buffers and NodeClasses: operatorpkg's
// names.

#include "millwright/model/conditions.hpp"

#include "millwright/telemetry/condition_watch.hpp"
#include "telemetry/sections.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace millwright::telemetry {
namespace {

struct Subject {
  const model::ObjectMeta* meta;
  const std::vector<model::Condition>* conditions;
  Labels labels;  // namespace, name and what its kind adds
};

Subject subject_of(const model::ObjectMeta& meta, const std::vector<model::Condition>& conditions,
                   const base::MetricLabels& more) {
  Subject subject{.meta = &meta, .conditions = &conditions, .labels = {}};
  subject.labels.add("namespace", meta.namespace_).add("name", meta.name);
  for (const auto& [name, value] : more) {
    subject.labels.add(name, value);
  }
  return subject;
}

void write_kind(Text& text, std::string_view kind, const std::vector<Subject>& subjects,
                base::TimePoint now) {
  const std::string prefix = "operator_" + std::string(kind);
  const auto each = [&](const std::function<void(const Labels&, const model::Condition&)>& write) {
    for (const auto& subject : subjects) {
      for (const auto& condition : *subject.conditions) {
        Labels labels = subject.labels;
        labels.add("type", condition.type).add("status", model::status_text(condition.status));
        labels.add("reason", condition.reason);
        write(labels, condition);
      }
    }
  };
  text.gauge(prefix + "_status_condition_count", "1 for each condition, with its status.");
  each([&](const Labels& labels, const model::Condition&) { text.sample(labels, 1); });
  text.gauge(prefix + "_status_condition_current_status_seconds",
             "For how long the condition has had its status.");
  each([&](const Labels& labels, const model::Condition& condition) {
    if (condition.last_transition_time) {
      text.sample(labels, seconds_since(*condition.last_transition_time, now));
    }
  });
  text.gauge(prefix + "_termination_current_time_seconds",
             "How long ago the object, which is still there, was deleted.");
  for (const auto& subject : subjects) {
    if (subject.meta->deletion_timestamp) {
      text.sample(subject.labels, seconds_since(*subject.meta->deletion_timestamp, now));
    }
  }
}

// Each kind has metrics of its own, as in Karpenter's providers; two groups may have one kind.
void write_class_conditions(Text& text, const PageInput& input) {
  std::map<std::string, std::vector<Subject>> by_kind;
  for (const auto& node_class : input.snapshot.node_classes) {
    const auto reference = model::reference_to(*node_class);
    const auto key = reference.label_key();
    auto& subjects = by_kind[key.substr(key.find('/') + 1)];
    subjects.push_back(
        subject_of(node_class->meta, node_class->conditions, {{"group", reference.group}}));
  }
  for (const auto& [kind, subjects] : by_kind) {
    write_kind(text, kind, subjects, input.now);
  }
}

}  // namespace

void write_conditions(Text& text, const PageInput& input) {
  const auto& snapshot = input.snapshot;
  std::vector<Subject> claims;
  std::vector<Subject> nodes;
  for (const auto& record : snapshot.nodes) {
    if (record->claim) {
      const auto& claim = *record->claim;
      claims.push_back(subject_of(claim.meta, claim.conditions, condition_labels(claim)));
    }
    if (record->node) {
      const auto& node = *record->node;
      nodes.push_back(subject_of(node.meta, node.conditions, condition_labels(node)));
    }
  }
  write_kind(text, "nodeclaim", claims, input.now);
  write_kind(text, "node", nodes, input.now);
  std::vector<Subject> pools;
  for (const auto& pool : snapshot.node_pools) {
    pools.push_back(subject_of(pool->meta, pool->conditions, condition_labels(*pool)));
  }
  write_kind(text, "nodepool", pools, input.now);
  std::vector<Subject> buffers;
  for (const auto& buffer : snapshot.capacity_buffers) {
    buffers.push_back(subject_of(buffer->meta, buffer->conditions, condition_labels(*buffer)));
  }
  write_kind(text, "capacitybuffer", buffers, input.now);
  write_class_conditions(text, input);
}

}  // namespace millwright::telemetry
