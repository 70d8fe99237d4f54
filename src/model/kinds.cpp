#include "millwright/model/kinds.hpp"

#include <array>

namespace millwright::model {
namespace {

constexpr std::array kNodeClassResources{kEc2NodeClassResource, kEcsNodeClassResource,
                                         kOfficialEcsNodeClassResource, kCceNodeClassResource,
                                         kKwokNodeClassResource};

constexpr std::array kAllResources{
    kPodResource,
    kNodeResource,
    kNamespaceResource,
    kEventResource,
    kSecretResource,
    kConfigMapResource,
    kServiceResource,
    kServiceAccountResource,
    kPersistentVolumeClaimResource,
    kPersistentVolumeResource,
    kPodTemplateResource,
    kReplicationControllerResource,
    kResourceQuotaResource,
    kDeploymentResource,
    kReplicaSetResource,
    kStatefulSetResource,
    kDaemonSetResource,
    kJobResource,
    kPodDisruptionBudgetResource,
    kStorageClassResource,
    kCSINodeResource,
    kVolumeAttachmentResource,
    kPriorityClassResource,
    kDeviceClassResource,
    kResourceClaimResource,
    kResourceClaimTemplateResource,
    kResourceSliceResource,
    kEndpointSliceResource,
    kLeaseResource,
    kCrdResource,
    kValidatingWebhookResource,
    kMutatingWebhookResource,
    kNodePoolResource,
    kNodeClaimResource,
    kNodeOverlayResource,
    kCapacityBufferResource,
    kKwokNodeClassResource,
    kEc2NodeClassResource,
    kEcsNodeClassResource,
    kOfficialEcsNodeClassResource,
    kCceNodeClassResource,
    kProvisionerResource,
    kAwsNodeTemplateResource,
};

}  // namespace

std::string Resource::api_version() const {
  std::string text(group);
  if (!text.empty()) {
    text += '/';
  }
  return text.append(version);
}

std::string Resource::path(std::string_view ns, std::string_view name,
                           std::string_view subresource) const {
  std::string text = group.empty() ? "/api/" : "/apis/";
  text += api_version();
  if (namespaced && !ns.empty()) {
    text.append("/namespaces/").append(ns);
  }
  text.append("/").append(plural);
  if (!name.empty()) {
    text.append("/").append(name);
  }
  if (!subresource.empty()) {
    text.append("/").append(subresource);
  }
  return text;
}

std::string_view api_group(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::span<const Resource> all_resources() {
  return kAllResources;
}
std::span<const Resource> node_class_resources() {
  return kNodeClassResources;
}

const Resource* find_by_kind(std::string_view api_version, std::string_view kind) {
  for (const Resource& resource : kAllResources) {
    if (resource.kind == kind && resource.api_version() == api_version) {
      return &resource;
    }
  }
  return nullptr;
}

}  // namespace millwright::model
