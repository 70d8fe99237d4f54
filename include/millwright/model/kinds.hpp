// The resources of the API that Millwright reads or writes: how a kind maps to its URL.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace millwright::model {

struct Resource {
  std::string_view group;  // empty for core
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = false;

  // "v1", "karpenter.sh/v1"
  std::string api_version() const;
  // "/api/v1/namespaces/default/pods/web-1"; empty parts are left out.
  std::string path(std::string_view ns = {}, std::string_view name = {},
                   std::string_view subresource = {}) const;
  friend bool operator==(const Resource&, const Resource&) = default;
};

inline constexpr Resource kPodResource{"", "v1", "Pod", "pods", true};
inline constexpr Resource kNodeResource{"", "v1", "Node", "nodes", false};
inline constexpr Resource kNamespaceResource{"", "v1", "Namespace", "namespaces", false};
inline constexpr Resource kEventResource{"", "v1", "Event", "events", true};
inline constexpr Resource kSecretResource{"", "v1", "Secret", "secrets", true};
inline constexpr Resource kConfigMapResource{"", "v1", "ConfigMap", "configmaps", true};
inline constexpr Resource kServiceResource{"", "v1", "Service", "services", true};
inline constexpr Resource kServiceAccountResource{"", "v1", "ServiceAccount", "serviceaccounts",
                                                  true};
inline constexpr Resource kPersistentVolumeClaimResource{"", "v1", "PersistentVolumeClaim",
                                                         "persistentvolumeclaims", true};
inline constexpr Resource kPersistentVolumeResource{"", "v1", "PersistentVolume",
                                                    "persistentvolumes", false};
inline constexpr Resource kPodTemplateResource{"", "v1", "PodTemplate", "podtemplates", true};
inline constexpr Resource kReplicationControllerResource{"", "v1", "ReplicationController",
                                                         "replicationcontrollers", true};
inline constexpr Resource kResourceQuotaResource{"", "v1", "ResourceQuota", "resourcequotas", true};
inline constexpr Resource kDeploymentResource{"apps", "v1", "Deployment", "deployments", true};
inline constexpr Resource kReplicaSetResource{"apps", "v1", "ReplicaSet", "replicasets", true};
inline constexpr Resource kStatefulSetResource{"apps", "v1", "StatefulSet", "statefulsets", true};
inline constexpr Resource kDaemonSetResource{"apps", "v1", "DaemonSet", "daemonsets", true};
inline constexpr Resource kJobResource{"batch", "v1", "Job", "jobs", true};
inline constexpr Resource kPodDisruptionBudgetResource{"policy", "v1", "PodDisruptionBudget",
                                                       "poddisruptionbudgets", true};
inline constexpr Resource kStorageClassResource{"storage.k8s.io", "v1", "StorageClass",
                                                "storageclasses", false};
inline constexpr Resource kCSINodeResource{"storage.k8s.io", "v1", "CSINode", "csinodes", false};
inline constexpr Resource kVolumeAttachmentResource{"storage.k8s.io", "v1", "VolumeAttachment",
                                                    "volumeattachments", false};
inline constexpr Resource kPriorityClassResource{"scheduling.k8s.io", "v1", "PriorityClass",
                                                 "priorityclasses", false};
inline constexpr Resource kDeviceClassResource{"resource.k8s.io", "v1", "DeviceClass",
                                               "deviceclasses", false};
inline constexpr Resource kResourceClaimResource{"resource.k8s.io", "v1", "ResourceClaim",
                                                 "resourceclaims", true};
inline constexpr Resource kResourceClaimTemplateResource{
    "resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", true};
inline constexpr Resource kResourceSliceResource{"resource.k8s.io", "v1", "ResourceSlice",
                                                 "resourceslices", false};
inline constexpr Resource kEndpointSliceResource{"discovery.k8s.io", "v1", "EndpointSlice",
                                                 "endpointslices", true};
inline constexpr Resource kLeaseResource{"coordination.k8s.io", "v1", "Lease", "leases", true};
inline constexpr Resource kCrdResource{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                       "customresourcedefinitions", false};
inline constexpr Resource kValidatingWebhookResource{"admissionregistration.k8s.io", "v1",
                                                     "ValidatingWebhookConfiguration",
                                                     "validatingwebhookconfigurations", false};
inline constexpr Resource kMutatingWebhookResource{"admissionregistration.k8s.io", "v1",
                                                   "MutatingWebhookConfiguration",
                                                   "mutatingwebhookconfigurations", false};
inline constexpr Resource kNodePoolResource{"karpenter.sh", "v1", "NodePool", "nodepools", false};
inline constexpr Resource kNodeClaimResource{"karpenter.sh", "v1", "NodeClaim", "nodeclaims",
                                             false};
inline constexpr Resource kNodeOverlayResource{"karpenter.sh", "v1alpha1", "NodeOverlay",
                                               "nodeoverlays", false};
inline constexpr Resource kCapacityBufferResource{"autoscaling.x-k8s.io", "v1beta1",
                                                  "CapacityBuffer", "capacitybuffers", true};
inline constexpr Resource kKwokNodeClassResource{"karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass",
                                                 "kwoknodeclasses", false};
inline constexpr Resource kEc2NodeClassResource{"karpenter.k8s.aws", "v1", "EC2NodeClass",
                                                "ec2nodeclasses", false};
inline constexpr Resource kEcsNodeClassResource{"karpenter.k8s.alibabacloud", "v1alpha1",
                                                "ECSNodeClass", "ecsnodeclasses", false};
// Of Alibaba's own provider.
inline constexpr Resource kOfficialEcsNodeClassResource{"karpenter.alibabacloud.com", "v1alpha1",
                                                        "ECSNodeClass", "ecsnodeclasses", false};
inline constexpr Resource kCceNodeClassResource{"karpenter.k8s.huawei", "v1alpha1", "CCENodeClass",
                                                "ccenodeclasses", false};
inline constexpr Resource kProvisionerResource{"karpenter.sh", "v1alpha5", "Provisioner",
                                               "provisioners", false};
inline constexpr Resource kAwsNodeTemplateResource{"karpenter.k8s.aws", "v1alpha1",
                                                   "AWSNodeTemplate", "awsnodetemplates", false};

// "karpenter.sh" of "karpenter.sh/v1"; empty for the core group ("v1").
std::string_view api_group(std::string_view api_version);

// Every resource above. find_* return nullptr when unknown.
std::span<const Resource> all_resources();
const Resource* find_by_kind(std::string_view api_version, std::string_view kind);
// The NodeClass kinds.
std::span<const Resource> node_class_resources();

}  // namespace millwright::model
