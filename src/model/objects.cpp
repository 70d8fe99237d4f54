// What can be told from an object alone: of pods, nodes and Karpenter's kinds.
#include "millwright/model/core.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/model/kinds.hpp"

#include <algorithm>

namespace millwright::model {
namespace {

bool is_owned_by(const ObjectMeta& meta, std::string_view api_version, std::string_view kind) {
  return std::any_of(meta.owner_references.begin(), meta.owner_references.end(),
                     [&](const OwnerReference& owner) {
                       return owner.api_version == api_version && owner.kind == kind;
                     });
}

}  // namespace

bool is_terminal(const Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}
bool is_owned_by_daemonset(const Pod& pod) {
  return is_owned_by(pod.meta, "apps/v1", "DaemonSet");
}
bool is_mirror(const Pod& pod) {
  return is_owned_by(pod.meta, "v1", "Node");
}

bool is_reported_unschedulable(const Pod& pod) {
  const Condition* const scheduled = find_condition(pod.status.conditions, "PodScheduled");
  return scheduled != nullptr && scheduled->reason == "Unschedulable";
}

bool is_ready(const Node& node) {
  return is_true(node.conditions, "Ready");
}

std::optional<base::Duration> NillableDuration::value() const {
  if (text.empty() || text == "Never") {
    return std::nullopt;
  }
  const auto parsed = base::parse_go_duration(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::string NodeClassReference::label_key() const {
  std::string text = group + "/";
  for (const char c : kind) {
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

std::string NodeClassReference::text() const {
  return kind + "." + group + "/" + name;
}

bool NodeClassReference::is_of(const Resource& resource) const {
  return group == resource.group && kind == resource.kind;
}

NodeClassReference reference_to(const NodeClass& node_class) {
  return {.group = std::string(api_group(node_class.api_version)),
          .kind = node_class.kind,
          .name = node_class.meta.name};
}

}  // namespace millwright::model
