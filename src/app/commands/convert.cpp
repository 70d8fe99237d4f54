#include "millwright/app/convert.hpp"

#include "millwright/controllers/legacy/legacy.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/schema/schema.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;

// "Provisioner default"
std::string kind_and_name(const json::value& object) {
  return std::string(text_at(object, "kind")).append(" ").append(text_at(object, "metadata.name"));
}

bool is(const json::value& object, const model::Resource& resource) {
  return text_at(object, "kind") == resource.kind &&
         text_at(object, "apiVersion") == resource.api_version();
}

// Karpenter's global settings and what sets the same here; empty: nothing does.
constexpr auto kGlobalSettings = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"aws.clusterName", "--cluster-name"},
     {"aws.clusterEndpoint", "--cluster-endpoint"},
     {"aws.clusterCABundle", "--cluster-ca-bundle"},
     {"aws.isolatedVPC", "--isolated-vpc"},
     {"aws.vmMemoryOverheadPercent", "--vm-memory-overhead-percent"},
     {"aws.interruptionQueueName", "--interruption-queue"},
     {"aws.reservedENIs", "--reserved-enis"},
     {"aws.defaultInstanceProfile", "spec.instanceProfile of each EC2NodeClass"},
     {"aws.tags", "spec.tags of each EC2NodeClass"},
     {"aws.assumeRoleARN", "a profile with role_arn and source_profile in ~/.aws/config"},
     {"aws.assumeRoleDuration", ""},
     {"aws.enablePodENI", ""},
     {"aws.enableENILimitedPodDensity", "spec.kubelet.maxPods of each EC2NodeClass"},
     {"batchMaxDuration", ""},
     {"batchIdleDuration", ""},
     {"featureGates.driftEnabled", ""}});

class Converter {
 public:
  Converter(controllers::LegacySettings settings, cloud::EcsGroup ecs_group)
      : settings_(std::move(settings)), ecs_group_(ecs_group) {}

  base::Result<Conversion> run(std::string_view yaml) {
    MW_TRY(documents, model::parse_yaml(yaml));
    for (auto& document : documents) {
      take_apart(std::move(document));
    }
    for (const auto& object : objects_) {
      if (is(object, model::kAwsNodeTemplateResource)) {
        templates_[std::string(text_at(object, "metadata.name"))] = &object;
      }
      if (is_global_settings(object) && settings_.default_instance_profile.empty()) {
        settings_.default_instance_profile = global_setting(object, "aws.defaultInstanceProfile");
      }
    }
    for (const auto& object : objects_) {
      convert(object);
    }
    return std::move(result_);
  }

 private:
  void take_apart(json::value document) {
    auto* items = document.is_object() ? document.get_object().if_contains("items") : nullptr;
    if (text_at(document, "kind") != "List" || items == nullptr || !items->is_array()) {
      objects_.push_back(std::move(document));
      return;
    }
    for (auto& item : items->get_array()) {
      objects_.push_back(std::move(item));
    }
  }

  static bool is_global_settings(const json::value& object) {
    return text_at(object, "kind") == "ConfigMap" &&
           text_at(object, "metadata.name") == "karpenter-global-settings";
  }
  // Keys have dots of their own.
  static std::string global_setting(const json::value& object, std::string_view key) {
    return std::string(model::as_text(model::member(model::member(object, "data"), key)));
  }

  void convert(const json::value& object) {
    who_ = kind_and_name(object);
    remarks_.clear();
    if (is(object, model::kAwsNodeTemplateResource)) {
      convert_template(object);
    } else if (is(object, model::kProvisionerResource)) {
      convert_provisioner(object);
    } else if (is_global_settings(object)) {
      convert_settings(object);
    } else if (is(object, other_ecs_class())) {
      convert_ecs_class(object);
    } else if (is(object, model::kNodePoolResource) &&
               cloud::names_ecs_class(object, other_ecs_group())) {
      take(cloud::translate_ecs_pool(object, ecs_group_));
    } else {
      pass_through(object);
    }
  }

  void convert_template(const json::value& object) {
    if (!is_sound(object)) {
      return;
    }
    auto translated = controllers::translate_node_template(object, settings_);
    if (!translated) {
      result_.problems.push_back(translated.error().message);
      return;
    }
    note_all(translated->notes);
    note_all(translated->warnings);
    emit(translated->node_class);
  }

  void convert_provisioner(const json::value& object) {
    if (!is_sound(object)) {
      return;
    }
    const auto named = templates_.find(std::string(text_at(object, "spec.providerRef.name")));
    auto translated = controllers::translate_provisioner(
        object, named == templates_.end() ? nullptr : named->second, settings_);
    if (!translated) {
      result_.problems.push_back(translated.error().message);
      return;
    }
    note_all(translated->notes);
    note_all(translated->warnings);
    if (const auto& node_class = translated->node_class; node_class) {
      emit(*node_class);
      remarks_.clear();
    }
    emit(translated->node_pool);
  }

  bool serves_ecs() const { return ecs_group_ == cloud::EcsGroup::Served; }
  cloud::EcsGroup other_ecs_group() const {
    return serves_ecs() ? cloud::EcsGroup::Official : cloud::EcsGroup::Served;
  }
  const model::Resource& other_ecs_class() const {
    return serves_ecs() ? model::kOfficialEcsNodeClassResource : model::kEcsNodeClassResource;
  }

  void convert_ecs_class(const json::value& object) {
    // The official kind has no description here; its translation looks at types itself.
    if (serves_ecs() || has_right_shape(object)) {
      take(cloud::translate_ecs_class(object, ecs_group_));
    }
  }

  void take(const cloud::EcsTranslation& translated) {
    note_all(translated.notes);
    for (const auto& problem : translated.problems) {
      result_.problems.push_back(who_ + ": " + problem);
    }
    if (translated.problems.empty()) {
      emit(translated.object);
    }
  }

  void convert_settings(const json::value& object) {
    for (const auto& [key, flag] : kGlobalSettings) {
      const auto value = global_setting(object, key);
      if (!value.empty()) {
        note(std::string(key) + " = " + value + ": " +
             (flag.empty() ? "has no equivalent" : "now " + std::string(flag)));
      }
    }
    comment();
  }

  void pass_through(const json::value& object) {
    const auto text = object.is_object() ? json::serialize(object) : std::string();
    if (text.find(model::kProvisionerNameLabel) != std::string::npos) {
      note("it names the label " + std::string(model::kProvisionerNameLabel) +
           ", which only nodes have that Millwright registered; write " +
           std::string(model::kNodePoolLabel));
    }
    if (text.find("karpenter.sh/do-not-evict") != std::string::npos) {
      note("it has the annotation karpenter.sh/do-not-evict; write " +
           std::string(model::kDoNotDisruptAnnotation) + ": \"true\"");
    }
    if (serves_ecs() && text.find("karpenter.alibabacloud.com/instance-") != std::string::npos) {
      note(
          "it names labels of Alibaba Cloud's own provider, which no node has here; write those of "
          "karpenter.k8s.alibabacloud");
    }
    emit(object);
  }

  // Fields of a wrong type would be misread, unknown ones left out in silence.
  bool is_sound(const json::value& object) {
    const auto* kind = schema::find_kind(text_at(object, "apiVersion"), text_at(object, "kind"));
    json::value known = object;
    for (const auto& path : schema::prune(*kind, known)) {
      note(path + " is no field of the kind and was left out");
    }
    return has_right_shape(known);
  }

  bool has_right_shape(const json::value& object) {
    const auto* kind = schema::find_kind(text_at(object, "apiVersion"), text_at(object, "kind"));
    const auto problems = schema::validate_structure(*kind, object);
    for (const auto& problem : problems) {
      result_.problems.push_back(who_ + ": " + problem.to_string());
    }
    return problems.empty();
  }

  void emit(const json::value& object) {
    if (const auto* kind =
            schema::find_kind(text_at(object, "apiVersion"), text_at(object, "kind"))) {
      json::value complete = object;
      schema::apply_defaults(*kind, complete);
      for (const auto& problem : schema::validate(*kind, complete)) {
        result_.problems.push_back(who_ + ": as " + std::string(text_at(object, "kind")) + ": " +
                                   problem.to_string());
      }
    }
    comment();
    result_.text += model::to_yaml(object);
  }

  void comment() {
    result_.text += "---\n";
    for (const auto& remark : remarks_) {
      std::string line = remark;  // a value of the file may have line ends of its own
      std::replace(line.begin(), line.end(), '\n', ' ');
      result_.text += "# " + who_ + ": " + line + "\n";
    }
  }

  void note(std::string text) {
    result_.notes.push_back(who_ + ": " + text);
    remarks_.push_back(std::move(text));
  }
  void note_all(const std::vector<std::string>& texts) {
    for (const auto& text : texts) {
      note(text);
    }
  }

  controllers::LegacySettings settings_;
  cloud::EcsGroup ecs_group_;
  std::vector<json::value> objects_;
  std::map<std::string, const json::value*> templates_;
  std::string who_;                   // the object at hand
  std::vector<std::string> remarks_;  // on it
  Conversion result_;
};

}  // namespace

base::Result<Conversion> convert_manifests(std::string_view yaml,
                                           controllers::LegacySettings settings,
                                           cloud::EcsGroup ecs_group) {
  return Converter(std::move(settings), ecs_group).run(yaml);
}

}  // namespace millwright::app
