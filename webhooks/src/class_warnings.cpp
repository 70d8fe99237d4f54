// Warnings about NodeClasses and the legacy kinds: what the cloud, or their translation, will do
// otherwise than written.
#include "millwright/base/base64.hpp"
#include "millwright/model/codec.hpp"
#include "webhooks/src/warnings.hpp"

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

namespace millwright::webhooks {
namespace {

namespace json = boost::json;

bool is_true(const json::value& object, std::string_view path) {
  const json::value* found = model::find_path(object, path);
  return found != nullptr && found->is_bool() && found->get_bool();
}

void warn_of_cce(const json::value& object, Warnings& warnings) {
  constexpr std::int64_t kRecommendedRoot = 40;
  const json::value* root = model::find_path(object, "spec.blockDeviceMappings.root.volumeSize");
  if (root != nullptr && root->is_int64() && root->get_int64() < kRecommendedRoot) {
    warnings.add(
        "spec.blockDeviceMappings.root.volumeSize: CCE recommends at least 40 GiB and may "
        "refuse " +
        std::to_string(root->get_int64()));
  }
  const std::string_view password = model::text_at(object, "spec.login.userPassword.password");
  if (password.empty()) {
    return;
  }
  const auto decoded = base::decode_base64(password);
  if (!decoded || !decoded->starts_with("$6$")) {
    warnings.add(
        "spec.login.userPassword.password: CCE takes passwords salted and hashed (SHA-512 "
        "crypt, beginning $6$) and then base64-encoded; this one is not, so nodes may fail "
        "to start");
  }
}

void warn_of_ecs(const json::value& object, Warnings& warnings) {
  if (model::find_path(object, "spec.systemDisk.size") != nullptr) {
    warnings.add(
        "spec.systemDisk.size is deprecated; write spec.systemDisk.volumeSize, such as "
        "\"40Gi\"");
  }
}

void warn_of_provisioner(const json::value& object, Warnings& warnings) {
  warnings.add(
      "karpenter.sh/v1alpha5 Provisioner is the older form of NodePool; it is translated "
      "and keeps working, and `millwright convert` writes the new form");
  const bool empties = model::find_path(object, "spec.ttlSecondsAfterEmpty") != nullptr;
  if (!empties && !is_true(object, "spec.consolidation.enabled")) {
    warnings.add(
        "spec: neither ttlSecondsAfterEmpty nor consolidation.enabled is set, so empty "
        "nodes are never removed");
  }
}

void warn_of_node_template(const json::value& object, Warnings& warnings) {
  warnings.add(
      "karpenter.k8s.aws/v1alpha1 AWSNodeTemplate is the older form of EC2NodeClass; it is "
      "translated and keeps working, and `millwright convert` writes the new form");
  if (!model::text_at(object, "spec.launchTemplate").empty()) {
    warnings.add(
        "spec.launchTemplate cannot be translated, so no node will be made; describe the "
        "nodes by selectors, userData and blockDeviceMappings instead");
  }
  if (model::text_at(object, "spec.amiFamily") == "Ubuntu" &&
      model::find_path(object, "spec.amiSelector") == nullptr) {
    warnings.add(
        "spec.amiFamily: Ubuntu has no images of its own any more; select them with "
        "spec.amiSelector");
  }
}

}  // namespace

void warn_of_unsupported(const model::NodeClass& node_class, const ClusterSnapshot& cluster,
                         Warnings& warnings) {
  if (!cluster.unsupported) {
    return;
  }
  for (const auto& problem : cluster.unsupported(node_class)) {
    warnings.add("no node is made: " + problem);
  }
}

void warn_of_cloud_class(const model::Resource& resource, const json::value& object,
                         Warnings& warnings) {
  if (resource == model::kCceNodeClassResource) {
    warn_of_cce(object, warnings);
  } else if (resource == model::kEcsNodeClassResource) {
    warn_of_ecs(object, warnings);
  } else if (resource == model::kProvisionerResource) {
    warn_of_provisioner(object, warnings);
  } else if (resource == model::kAwsNodeTemplateResource) {
    warn_of_node_template(object, warnings);
  }
}

}  // namespace millwright::webhooks
