// Warnings about a NodePool whose NodeClass does not exist, is not ready, or is of a kind that no
// enabled cloud serves.
#include "millwright/model/kinds.hpp"
#include "webhooks/src/nearest.hpp"
#include "webhooks/src/warnings.hpp"

#include <algorithm>

namespace millwright::webhooks {
namespace {

// Two groups may have a kind of one name, which is told once.
std::string kinds_of(const std::vector<model::Resource>& served) {
  std::string text;
  std::string_view last;
  for (const model::Resource& resource : served) {
    if (resource.kind != last) {
      text += text.empty() ? "" : ", ";
      text += resource.kind;
    }
    last = resource.kind;
  }
  return text.empty() ? "none" : text;
}

// "a", or "a or b"
std::string groups_of(std::string_view kind, const std::vector<model::Resource>& served) {
  std::string text;
  for (const model::Resource& resource : served) {
    if (resource.kind == kind) {
      text += text.empty() ? "" : " or ";
      text += resource.group;
    }
  }
  return text;
}

void warn_of_unserved_kind(const model::NodeClassReference& ref,
                           const std::vector<model::Resource>& served, Warnings& warnings) {
  std::string text = "spec.template.spec.nodeClassRef: no enabled cloud serves " + ref.kind + "." +
                     ref.group + ", so the pool will make no node; ";
  for (const model::Resource& resource : served) {
    if (resource.group == ref.group) {
      warnings.add(text + "the kind of that group is " + std::string(resource.kind));
      return;
    }
    if (resource.kind == ref.kind) {
      warnings.add(text + "the group of that kind is " + groups_of(ref.kind, served));
      return;
    }
  }
  warnings.add(text + "served are " + kinds_of(served));
}

bool is_served(const model::NodeClassReference& ref, const std::vector<model::Resource>& served) {
  return std::any_of(served.begin(), served.end(),
                     [&ref](const model::Resource& resource) { return ref.is_of(resource); });
}

bool is_of_kind(const model::NodeClassReference& node_class, const model::NodeClassReference& ref) {
  return node_class.group == ref.group && node_class.kind == ref.kind;
}

void warn_of_state(const model::NodeClass& node_class, Warnings& warnings) {
  const std::string name = node_class.kind + " \"" + node_class.meta.name + "\"";
  if (node_class.meta.is_deleting()) {
    warnings.add(name + " is being deleted; the pool will make no node");
    return;
  }
  const model::Condition* ready = model::find_condition(node_class.conditions, model::kReady);
  if (ready != nullptr && ready->status == model::ConditionStatus::False) {
    warnings.add(name + " is not ready (" + ready->reason + "): " + ready->message);
  }
}

}  // namespace

void warn_of_node_class(const model::NodePool& pool, const ClusterSnapshot& cluster,
                        Warnings& warnings) {
  const model::NodeClassReference& ref = pool.template_.node_class_ref;
  if (!is_served(ref, cluster.served_node_classes)) {
    warn_of_unserved_kind(ref, cluster.served_node_classes, warnings);
    return;
  }
  Texts names;
  for (const model::NodeClass& node_class : cluster.node_classes) {
    const auto known = model::reference_to(node_class);
    if (!is_of_kind(known, ref)) {
      continue;
    }
    if (known == ref) {
      warn_of_state(node_class, warnings);
      return;
    }
    names.insert(node_class.meta.name);
  }
  const std::string meant = nearest(ref.name, names);
  warnings.add("spec.template.spec.nodeClassRef: " + ref.kind + " \"" + ref.name +
               "\" does not exist (yet); the pool will make no node until it does" +
               (meant.empty() ? "" : "; did you mean \"" + meant + "\"?"));
}

}  // namespace millwright::webhooks
