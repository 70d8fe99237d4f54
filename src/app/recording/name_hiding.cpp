#include "app/recording/name_hiding.hpp"

#include "millwright/model/labels.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace millwright::app {
namespace {

namespace json = boost::json;

// Members whose text is a name, at any depth.
constexpr std::array<std::string_view, 22> kNameMembers{"name",
                                                        "generateName",
                                                        "namespace",
                                                        "nodeName",
                                                        "claimName",
                                                        "volumeName",
                                                        "storageClassName",
                                                        "priorityClassName",
                                                        "serviceName",
                                                        "nominatedNodeName",
                                                        "role",
                                                        "instanceProfile",
                                                        "ecsGroupId",
                                                        "ramRole",
                                                        "clusterName",
                                                        "deviceClassName",
                                                        "resourceClaimName",
                                                        "resourceClaimTemplateName",
                                                        "request",
                                                        "pool",
                                                        "device",
                                                        "resource.kubernetes.io/pod-claim-name"};
// Members whose items are names.
constexpr std::array<std::string_view, 2> kNameLists{"namespaces", "requests"};
// Members that map labels, or tags, to values.
constexpr std::array<std::string_view, 4> kLabelMembers{"labels", "matchLabels", "nodeSelector",
                                                        "tags"};

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether values of this label are the same words in every cluster: types, zones, architectures.
bool has_common_values(std::string_view key) {
  static constexpr std::array<std::string_view, 11> kDomains{
      "topology.kubernetes.io/",
      "failure-domain.beta.kubernetes.io/",
      "beta.kubernetes.io/",
      "node.kubernetes.io/",
      "karpenter.sh/",
      "karpenter.k8s.",
      "karpenter.alibabacloud.com/",
      "topology.k8s.aws/",
      "topology.ebs.csi.aws.com/",
      "topology.diskplugin.csi.alibabacloud.com/",
      "karpenter.kwok.sh/"};
  static constexpr std::array<std::string_view, 8> kKeys{model::kArchLabel,
                                                         model::kOsLabel,
                                                         "pod-template-hash",
                                                         "controller-uid",
                                                         "batch.kubernetes.io/controller-uid",
                                                         "controller-revision-hash",
                                                         "apps.kubernetes.io/pod-index",
                                                         "pod-template-generation"};
  if (key == model::kNodePoolLabel || key == model::kProvisionerNameLabel ||
      key.ends_with("nodeclass")) {
    return false;
  }
  return is_among(kKeys, key) ||
         std::any_of(kDomains.begin(), kDomains.end(),
                     [&](std::string_view domain) { return key.starts_with(domain); });
}

class NameHider {
 public:
  explicit NameHider(const NameHash& names) : names_(names) {}

  void hide_in(json::value& value) const {
    if (auto* list = value.if_array()) {
      for (auto& item : *list) {
        hide_in(item);
      }
      return;
    }
    auto* object = value.if_object();
    if (object == nullptr) {
      return;
    }
    hide_pair(*object);
    for (auto& [key, member] : *object) {
      hide_member(key, member);
    }
  }

 private:
  void hide_text(json::value& value) const {
    if (value.is_string()) {
      value = names_.unless_common(value.get_string());
    }
  }

  void hide_all(json::value& list) const {
    if (list.is_array()) {
      for (auto& item : list.get_array()) {
        hide_text(item);
      }
    }
    hide_in(list);  // those of other kinds may be objects
  }

  // A requirement {key, operator, values}, a taint or a toleration {key, value, effect}.
  void hide_pair(json::object& object) const {
    const auto* key = object.if_contains("key");
    if (key == nullptr || !key->is_string() || has_common_values(key->get_string())) {
      return;
    }
    if (auto* values = object.if_contains("values")) {
      hide_all(*values);
    }
    if (auto* value = object.if_contains("value")) {
      hide_text(*value);
    }
  }

  void hide_member(std::string_view key, json::value& member) const {
    if (is_among(kNameMembers, key)) {
      hide_text(member);
      hide_in(member);
    } else if (key == "providerID" && member.is_string()) {
      const std::string id(member.get_string());
      const auto begin = id.rfind('/') + 1;  // 0 without a slash
      member = id.substr(0, begin) + names_.name(std::string_view(id).substr(begin));
    } else if (is_among(kNameLists, key)) {
      hide_all(member);
    } else if (is_among(kLabelMembers, key) && member.is_object()) {
      for (auto& [label, value] : member.get_object()) {
        if (!has_common_values(label)) {
          hide_text(value);
        }
        hide_in(value);  // a nodeSelector of other kinds has terms
      }
    } else {
      hide_in(member);
    }
  }

  const NameHash& names_;
};

}  // namespace

void hide_names(const NameHash& names, const model::Resource& resource, json::value& object) {
  const NameHider hider(names);
  if (resource == model::kCSINodeResource || resource == model::kStorageClassResource) {
    // The names in there are those of drivers; StorageClasses name zones by labels, too.
    if (auto* metadata = object.as_object().if_contains("metadata")) {
      hider.hide_in(*metadata);
    }
    return;
  }
  hider.hide_in(object);
}

}  // namespace millwright::app
