// Does the pool's NodeClass exist, is it of a kind that a cloud here serves, is it ready?
#include "millwright/model/kinds.hpp"
#include "nearest.hpp"
#include "warnings.hpp"

namespace millwright::webhooks {
namespace {

std::string served_kinds() {
  std::string text;
  for (const model::Resource& resource : model::node_class_resources()) {
    text += text.empty() ? "" : ", ";
    text += resource.kind;
  }
  return text;
}

void warn_of_unknown_kind(const model::NodeClassReference& ref, Warnings& warnings) {
  std::string text = "spec.template.spec.nodeClassRef: no cloud serves " + ref.kind + "." +
                     ref.group + ", so the pool will make no node; ";
  for (const model::Resource& resource : model::node_class_resources()) {
    if (resource.group == ref.group) {
      warnings.add(text + "the kind of that group is " + std::string(resource.kind));
      return;
    }
    if (resource.kind == ref.kind) {
      warnings.add(text + "the group of that kind is " + std::string(resource.group));
      return;
    }
  }
  warnings.add(text + "served are " + served_kinds());
}

bool is_served(const model::NodeClassReference& ref) {
  for (const model::Resource& resource : model::node_class_resources()) {
    if (resource.group == ref.group && resource.kind == ref.kind) {
      return true;
    }
  }
  return false;
}

bool is_of_kind(const model::NodeClass& node_class, const model::NodeClassReference& ref) {
  return node_class.kind == ref.kind && node_class.api_version.starts_with(ref.group + "/");
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

void warn_of_node_class(const model::NodePool& pool, const World& world, Warnings& warnings) {
  const model::NodeClassReference& ref = pool.template_.node_class_ref;
  if (!is_served(ref)) {
    warn_of_unknown_kind(ref, warnings);
    return;
  }
  Texts names;
  for (const model::NodeClass& node_class : world.node_classes) {
    if (!is_of_kind(node_class, ref)) {
      continue;
    }
    if (node_class.meta.name == ref.name) {
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
