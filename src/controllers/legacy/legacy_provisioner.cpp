// Provisioner to NodePool.

#include "millwright/controllers/legacy/legacy.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

std::string_view renamed(std::string_view key) {
  if (key == model::kProvisionerNameLabel) {
    return model::kNodePoolLabel;
  }
  if (key == "karpenter.sh/do-not-evict" || key == "karpenter.sh/do-not-consolidate") {
    return model::kDoNotDisruptAnnotation;
  }
  return key;
}

json::object renamed_map(const json::object& from, std::string_view field) {
  json::object to;
  if (const auto* map = from.if_contains(field); map != nullptr && map->is_object()) {
    for (const auto& [key, value] : map->as_object()) {
      to[renamed(key)] = value;
    }
  }
  return to;
}

// What Karpenter's own webhook added to a Provisioner that said nothing about the key.
void add_defaulted_requirements(json::array& requirements, const json::object& labels) {
  const auto mentions = [&](std::string_view key) {
    const bool required =
        std::any_of(requirements.begin(), requirements.end(),
                    [&](const json::value& item) { return item.at("key") == json::value(key); });
    return required || labels.contains(key);
  };
  const auto add = [&](std::string_view key, std::string_view op, json::array values) {
    requirements.push_back(
        json::object{{"key", key}, {"operator", op}, {"values", std::move(values)}});
  };
  const auto add_absent = [&](std::string_view key, std::string_view value) {
    if (!mentions(key)) {
      add(key, "In", json::array{json::value(value)});
    }
  };
  const bool any_shape = mentions(model::kInstanceTypeLabel) ||
                         mentions("karpenter.k8s.aws/instance-family") ||
                         mentions("karpenter.k8s.aws/instance-category") ||
                         mentions("karpenter.k8s.aws/instance-generation");
  add_absent(model::kOsLabel, "linux");
  add_absent(model::kArchLabel, "amd64");
  add_absent(model::kCapacityTypeLabel, model::kOnDemand);
  if (!any_shape) {
    add("karpenter.k8s.aws/instance-category", "In", json::array{"c", "m", "r"});
    add("karpenter.k8s.aws/instance-generation", "Gt", json::array{"2"});
  }
}

std::string seconds_text(const json::value& seconds) {
  return std::to_string(seconds.is_int64() ? seconds.as_int64() : 0) + "s";
}

json::object disruption_of(const json::object& from) {
  const auto* consolidation = from.if_contains("consolidation");
  const auto* enabled = consolidation != nullptr && consolidation->is_object()
                            ? consolidation->as_object().if_contains("enabled")
                            : nullptr;
  if (enabled != nullptr && enabled->is_bool() && enabled->as_bool()) {
    return {{"consolidationPolicy", "WhenEmptyOrUnderutilized"}, {"consolidateAfter", "0s"}};
  }
  const auto* empty = from.if_contains("ttlSecondsAfterEmpty");
  return {{"consolidationPolicy", "WhenEmpty"},
          {"consolidateAfter", empty != nullptr ? seconds_text(*empty) : std::string("Never")}};
}

std::string class_name(const json::object& from, const std::string& provisioner) {
  const auto name = model::as_text(model::member(from.if_contains("providerRef"), "name"));
  return name.empty() ? provisioner : std::string(name);
}

// A class of the Provisioner's own: for an inline provider, and for a kubelet configuration, which
// v1 keeps on the class.
base::Result<std::optional<json::value>> own_class(const json::object& from,
                                                   const std::string& name,
                                                   const json::value* node_template,
                                                   const LegacySettings& settings,
                                                   LegacyTranslation& result) {
  const auto* provider = from.if_contains("provider");
  const auto* kubelet = from.if_contains("kubeletConfiguration");
  if (provider == nullptr && kubelet == nullptr) {
    return std::nullopt;
  }
  json::value source;
  if (provider != nullptr) {
    source = json::object{{"metadata", json::object{{"name", name}}}, {"spec", *provider}};
  } else if (node_template != nullptr) {
    source = *node_template;
  } else {
    return base::fail(base::ErrorKind::NotFound, "spec.providerRef.name: AWSNodeTemplate " +
                                                     class_name(from, name) +
                                                     " does not exist; create it");
  }
  MW_TRY(translated, translate_node_template(source, settings));
  result.notes.insert(result.notes.end(), translated.notes.begin(), translated.notes.end());
  result.warnings = std::move(translated.warnings);
  json::value node_class = std::move(translated.node_class);
  node_class.at("metadata").as_object()["name"] = name;
  if (kubelet != nullptr && kubelet->is_object()) {
    json::object settings_of_kubelet = kubelet->as_object();
    if (settings_of_kubelet.erase("containerRuntime") > 0) {
      result.notes.emplace_back(
          "kubeletConfiguration.containerRuntime: containerd is the only one left");
    }
    node_class.at("spec").as_object()["kubelet"] = std::move(settings_of_kubelet);
  }
  return std::optional<json::value>(std::move(node_class));
}

// The API server would not have stored another one; a file may hold anything.
base::Result<> check_requirements(const json::object& from) {
  const auto* given = from.if_contains("requirements");
  if (given == nullptr) {
    return {};
  }
  bool good = given->is_array();
  if (good) {
    for (const auto& item : given->get_array()) {
      const auto* key = item.is_object() ? item.get_object().if_contains("key") : nullptr;
      good = good && key != nullptr && key->is_string();
    }
  }
  return good ? base::Result<>{}
              : base::fail(base::ErrorKind::Invalid,
                           "spec.requirements: must be a list of objects, each with a key");
}

// What changes its meaning a little, or was the old webhook's doing and must be written out now.
void note_changes(const json::object& from, std::vector<std::string>& notes) {
  const auto* annotations = from.if_contains("annotations");
  if (annotations != nullptr && annotations->is_object() &&
      annotations->get_object().contains("karpenter.sh/do-not-consolidate")) {
    notes.emplace_back(
        "annotation karpenter.sh/do-not-consolidate became karpenter.sh/do-not-disrupt, which also "
        "keeps nodes from drift");
  }
  const auto* consolidation = from.if_contains("consolidation");
  if (consolidation == nullptr && !from.contains("ttlSecondsAfterEmpty")) {
    notes.emplace_back(
        "neither ttlSecondsAfterEmpty nor consolidation: nodes are kept as before "
        "(consolidateAfter: Never)");
  }
}

json::object template_of(const json::object& from, const std::string& node_class) {
  json::object labels = renamed_map(from, "labels");
  json::array requirements;
  if (const auto* given = from.if_contains("requirements"); given && given->is_array()) {
    for (json::value item : given->as_array()) {
      auto& key = item.as_object()["key"];
      key = json::value(renamed(std::string_view(key.as_string())));
      requirements.push_back(std::move(item));
    }
  }
  add_defaulted_requirements(requirements, labels);

  json::object spec{{"nodeClassRef",
                     {{"group", model::kEc2NodeClassResource.group},
                      {"kind", model::kEc2NodeClassResource.kind},
                      {"name", node_class}}},
                    {"requirements", std::move(requirements)}};
  for (const auto* field : {"taints", "startupTaints"}) {
    if (const auto* value = from.if_contains(field)) {
      spec[field] = *value;
    }
  }
  const auto* expiry = from.if_contains("ttlSecondsUntilExpired");
  spec["expireAfter"] = expiry != nullptr ? seconds_text(*expiry) : std::string("Never");

  json::object metadata{{"labels", std::move(labels)}};
  if (json::object annotations = renamed_map(from, "annotations"); !annotations.empty()) {
    metadata["annotations"] = std::move(annotations);
  }
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

}  // namespace

base::Result<LegacyTranslation> translate_provisioner(const json::value& provisioner,
                                                      const json::value* node_template,
                                                      const LegacySettings& settings) {
  const auto* name_field = model::find_path(provisioner, "metadata.name");
  const auto* spec_field = model::find_path(provisioner, "spec");
  if (name_field == nullptr || !name_field->is_string() || spec_field == nullptr ||
      !spec_field->is_object()) {
    return base::fail(base::ErrorKind::Invalid, "Provisioner: metadata.name and spec are required");
  }
  const std::string name(name_field->as_string());
  const auto& from = spec_field->as_object();
  auto checked = check_requirements(from);
  if (!checked) {
    return base::with_context("Provisioner " + name, std::move(checked).error());
  }
  if (from.contains("provider") && from.contains("providerRef")) {
    return base::fail(base::ErrorKind::Invalid,
                      "Provisioner " + name + ": spec has both provider and providerRef; keep one");
  }
  LegacyTranslation result;
  note_changes(from, result.notes);
  auto owned = own_class(from, name, node_template, settings, result);
  if (!owned) {
    return base::with_context("Provisioner " + name, std::move(owned).error());
  }
  result.node_class = *std::move(owned);
  json::object spec{
      {"template", template_of(from, result.node_class ? name : class_name(from, name))},
      {"disruption", disruption_of(from)}};
  if (const auto* weight = from.if_contains("weight")) {
    spec["weight"] = *weight;
  }
  if (const auto* limits = model::find_path(*spec_field, "limits.resources")) {
    spec["limits"] = *limits;
  }
  result.node_pool = json::object{{"apiVersion", model::kNodePoolResource.api_version()},
                                  {"kind", model::kNodePoolResource.kind},
                                  {"metadata", json::object{{"name", name}}},
                                  {"spec", std::move(spec)}};
  return result;
}

}  // namespace millwright::controllers
