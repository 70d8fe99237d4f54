// NodePools between the two groups of ECSNodeClasses: the group that they name, and the labels by
// which they choose instance types.
#include "millwright/cloud/alibaba_groups.hpp"
#include "millwright/model/json_fields.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using model::text_at;

struct TwinLabel {
  std::string_view official;
  std::string_view served;
};
constexpr TwinLabel kTwinFamily{"node.kubernetes.io/instance-family",
                                "karpenter.k8s.alibabacloud/instance-family"};
// The same values, but for the family: "g7" is "ecs.g7" in the group that is served. The name and
// memory of a GPU are told otherwise there ("nvidia-v100" and GiB; "v100" and MiB), so that no
// value can be carried over.
constexpr std::array kTwinLabels{
    kTwinFamily,
    TwinLabel{"node.kubernetes.io/instance-size", "karpenter.k8s.alibabacloud/instance-size"},
    TwinLabel{"karpenter.alibabacloud.com/instance-category",
              "karpenter.k8s.alibabacloud/instance-category"},
    TwinLabel{"karpenter.alibabacloud.com/instance-generation",
              "karpenter.k8s.alibabacloud/instance-generation"},
    TwinLabel{"karpenter.alibabacloud.com/instance-cpu", "karpenter.k8s.alibabacloud/instance-cpu"},
    TwinLabel{"karpenter.alibabacloud.com/instance-memory",
              "karpenter.k8s.alibabacloud/instance-memory"},
    TwinLabel{"karpenter.alibabacloud.com/instance-gpu-manufacturer",
              "karpenter.k8s.alibabacloud/instance-gpu-manufacturer"},
    TwinLabel{"karpenter.alibabacloud.com/instance-gpu-count",
              "karpenter.k8s.alibabacloud/instance-gpu-count"}};

constexpr std::string_view kEcsPrefix = "ecs.";

std::string_view group_name(EcsGroup group) {
  return group == EcsGroup::Served ? model::kEcsNodeClassResource.group
                                   : model::kOfficialEcsNodeClassResource.group;
}
EcsGroup twin_of(EcsGroup group) {
  return group == EcsGroup::Served ? EcsGroup::Official : EcsGroup::Served;
}

// Of the cloud, in the group: it means nothing where the class is of the other one.
bool is_label_of(EcsGroup group, std::string_view key) {
  const auto is_in = [key](std::string_view domain) {
    return key.starts_with(domain) && key.substr(domain.size()).starts_with('/');
  };
  return is_in(group_name(group)) ||
         (group == EcsGroup::Served && is_in("topology.k8s.alibabacloud"));
}

class PoolTranslator {
 public:
  PoolTranslator(const json::value& node_pool, EcsGroup to) : to_(to) {
    result_.object = node_pool;
  }

  EcsTranslation run() {
    auto& pool_template = result_.object.at("spec").at("template").as_object();
    auto& spec = pool_template.at("spec").as_object();
    spec.at("nodeClassRef").as_object()["group"] = group_name(to_);
    if (auto* list = spec.if_contains("requirements"); list != nullptr && list->is_array()) {
      std::size_t index = 0;
      for (auto& requirement : list->get_array()) {
        change_requirement(requirement, index++);
      }
    }
    auto* metadata = pool_template.if_contains("metadata");
    if (metadata != nullptr && metadata->is_object()) {
      auto* labels = metadata->get_object().if_contains("labels");
      if (labels != nullptr && labels->is_object()) {
        change_labels(labels->get_object());
      }
    }
    return std::move(result_);
  }

 private:
  const TwinLabel* find_twin(std::string_view key) const {
    const auto found = std::find_if(kTwinLabels.begin(), kTwinLabels.end(), [&](const auto& twin) {
      return key == (to_ == EcsGroup::Served ? twin.official : twin.served);
    });
    return found == kTwinLabels.end() ? nullptr : &*found;
  }

  std::string_view key_of(const TwinLabel& twin) const {
    return to_ == EcsGroup::Served ? twin.served : twin.official;
  }

  // nullopt: the other group has no such value.
  std::optional<std::string> value_of(const TwinLabel& twin, std::string_view value) const {
    if (twin.served != kTwinFamily.served) {
      return std::string(value);
    }
    if (to_ == EcsGroup::Official) {
      return std::string(value.starts_with(kEcsPrefix) ? value.substr(kEcsPrefix.size()) : value);
    }
    // "gn6i-c4g1" is a family there, and a part of "ecs.gn6i" here.
    return value.find('-') == std::string_view::npos
               ? std::optional(std::string(kEcsPrefix).append(value))
               : std::nullopt;
  }

  void refuse(const std::string& where, std::string_view what) {
    result_.problems.push_back(where + ": " + std::string(what) +
                               " has no equivalent; choose by another label, or by "
                               "node.kubernetes.io/instance-type");
  }

  void change_requirement(json::value& requirement, std::size_t index) {
    const std::string where = "spec.template.spec.requirements[" + std::to_string(index) + "]";
    const std::string key(text_at(requirement, "key"));
    const auto* twin = find_twin(key);
    if (twin == nullptr) {
      if (is_label_of(twin_of(to_), key)) {
        refuse(where, key);
      }
      return;
    }
    auto& object = requirement.as_object();
    object["key"] = key_of(*twin);
    auto* values = object.if_contains("values");
    if (values == nullptr || !values->is_array()) {
      return;
    }
    for (auto& value : values->get_array()) {
      const std::string before(model::as_text(&value));
      if (before.empty()) {
        continue;
      }
      if (auto after = value_of(*twin, before)) {
        value = *std::move(after);
      } else {
        refuse(where, key + " " + before);
      }
    }
  }

  void change_labels(json::object& labels) {
    json::object changed;
    for (const auto& [key, value] : labels) {
      const std::string where = "spec.template.metadata.labels";
      const auto* twin = find_twin(key);
      if (twin == nullptr) {
        if (is_label_of(twin_of(to_), key)) {
          refuse(where, key);
        }
        changed[key] = value;
      } else if (const auto text = value_of(*twin, model::as_text(&value))) {
        changed[key_of(*twin)] = *text;
      } else {
        refuse(where, std::string(key) + " " + std::string(model::as_text(&value)));
      }
    }
    labels = std::move(changed);
  }

  EcsGroup to_;
  EcsTranslation result_;
};

}  // namespace

bool names_ecs_class(const json::value& node_pool, EcsGroup group) {
  const auto* reference = model::find_path(node_pool, "spec.template.spec.nodeClassRef");
  return model::as_text(model::member(reference, "group")) == group_name(group) &&
         model::as_text(model::member(reference, "kind")) == model::kEcsNodeClassResource.kind;
}

EcsTranslation translate_ecs_pool(const json::value& node_pool, EcsGroup to) {
  return PoolTranslator(node_pool, to).run();
}

}  // namespace millwright::cloud
