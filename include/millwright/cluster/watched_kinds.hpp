// Every kind of object that the cluster state is built from, in one list. The feed watches these,
// State keeps them, each change is reported with its Kind, and `millwright install` asks for the
// right to read them.
#pragma once

#include "millwright/model/kinds.hpp"
#include "millwright/model/resource_quota.hpp"
#include "millwright/model/workload.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace millwright::cluster {

enum class Kind : std::uint8_t {
  Pod,
  Node,
  NodePool,
  NodeClaim,
  NodeOverlay,
  CapacityBuffer,
  DaemonSet,
  PodDisruptionBudget,
  PersistentVolumeClaim,
  PersistentVolume,
  StorageClass,
  CSINode,
  VolumeAttachment,
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
  Namespace,
  PriorityClass,
  Workload,
  ResourceQuota,
  PodSelector,
  NodeClass,
};

// The feature that a kind is watched for.
enum class NeededBy : std::uint8_t {
  Always,
  NodeOverlays,
  CapacityBuffers,
  DefaultSpread,
  ResourceClaims,
};

// Nothing is decided before the first complete list of every kind: a drain that knows no pods, or a
// launch that knows no NodeClass, would do harm that nobody can undo.
enum class FirstList : std::uint8_t {
  Awaited,  // without it nothing is done at all
  // Counts as empty without the right to list it, or when it is not installed. One that cannot be
  // listed any more keeps the objects that it had last.
  AwaitedIfListable,
};

// How objects that are read as a T are watched and where a snapshot shows them.
template <class T>
struct WatchedKind {
  Kind kind;
  std::span<const model::Resource> resources;  // of NodeClasses, each cloud names its own
  std::string_view purpose;                    // what it is read for, in the words of the RBAC rule
  FirstList first_list = FirstList::AwaitedIfListable;
  NeededBy needed_by = NeededBy::Always;
  // nullptr: State puts pods, nodes and claims into the snapshot itself, and keeps workloads and
  // quotas to itself.
  std::vector<std::shared_ptr<const T>> scheduling::Snapshot::*items = nullptr;
};

constexpr std::span<const model::Resource> only(const model::Resource& resource) {
  return {&resource, 1};
}

inline constexpr std::string_view kPlans = "What every plan is made from.";
inline constexpr std::string_view kVolumes =
    "Volumes: where a pod can run, and when a drained node is free of them.";
inline constexpr std::string_view kOwnKinds = "Our own kinds.";
inline constexpr std::string_view kDevices =
    "Devices, and the claims of pods to them (--ignore-dra-requests=false).";

inline constexpr std::tuple kWatchedKinds{
    WatchedKind<model::Pod>{
        .kind = Kind::Pod,
        .resources = only(model::kPodResource),
        .purpose = kPlans,
        .first_list = FirstList::Awaited,
    },
    WatchedKind<model::Node>{
        .kind = Kind::Node,
        .resources = only(model::kNodeResource),
        .purpose = kPlans,
        .first_list = FirstList::Awaited,
    },
    WatchedKind<model::NodePool>{
        .kind = Kind::NodePool,
        .resources = only(model::kNodePoolResource),
        .purpose = kOwnKinds,
        .first_list = FirstList::Awaited,
        .items = &scheduling::Snapshot::node_pools,
    },
    WatchedKind<model::NodeClaim>{
        .kind = Kind::NodeClaim,
        .resources = only(model::kNodeClaimResource),
        .purpose = kOwnKinds,
        .first_list = FirstList::Awaited,
    },
    WatchedKind<model::NodeOverlay>{
        .kind = Kind::NodeOverlay,
        .resources = only(model::kNodeOverlayResource),
        .purpose = kOwnKinds,
        .needed_by = NeededBy::NodeOverlays,
        .items = &scheduling::Snapshot::node_overlays,
    },
    WatchedKind<model::CapacityBuffer>{
        .kind = Kind::CapacityBuffer,
        .resources = only(model::kCapacityBufferResource),
        .purpose =
            "Room that is asked for before its pods are there (feature gate CapacityBuffer).",
        .needed_by = NeededBy::CapacityBuffers,
        .items = &scheduling::Snapshot::capacity_buffers,
    },
    WatchedKind<model::DaemonSet>{
        .kind = Kind::DaemonSet,
        .resources = only(model::kDaemonSetResource),
        .purpose = "DaemonSets: what their pods will take of a node that does not exist yet.",
        .items = &scheduling::Snapshot::daemon_sets,
    },
    WatchedKind<model::PodDisruptionBudget>{
        .kind = Kind::PodDisruptionBudget,
        .resources = only(model::kPodDisruptionBudgetResource),
        .purpose = "Disruption budgets: which nodes cannot be emptied now.",
        .items = &scheduling::Snapshot::disruption_budgets,
    },
    WatchedKind<model::PersistentVolumeClaim>{
        .kind = Kind::PersistentVolumeClaim,
        .resources = only(model::kPersistentVolumeClaimResource),
        .purpose = kPlans,
        .items = &scheduling::Snapshot::volume_claims,
    },
    WatchedKind<model::PersistentVolume>{
        .kind = Kind::PersistentVolume,
        .resources = only(model::kPersistentVolumeResource),
        .purpose = kPlans,
        .items = &scheduling::Snapshot::volumes,
    },
    WatchedKind<model::StorageClass>{
        .kind = Kind::StorageClass,
        .resources = only(model::kStorageClassResource),
        .purpose = kVolumes,
        .items = &scheduling::Snapshot::storage_classes,
    },
    WatchedKind<model::CSINode>{
        .kind = Kind::CSINode,
        .resources = only(model::kCSINodeResource),
        .purpose = kVolumes,
        .items = &scheduling::Snapshot::csi_nodes,
    },
    WatchedKind<model::VolumeAttachment>{
        .kind = Kind::VolumeAttachment,
        .resources = only(model::kVolumeAttachmentResource),
        .purpose = kVolumes,
        .items = &scheduling::Snapshot::volume_attachments,
    },
    WatchedKind<model::DeviceClass>{
        .kind = Kind::DeviceClass,
        .resources = only(model::kDeviceClassResource),
        .purpose = kDevices,
        .needed_by = NeededBy::ResourceClaims,
        .items = &scheduling::Snapshot::device_classes,
    },
    WatchedKind<model::ResourceClaim>{
        .kind = Kind::ResourceClaim,
        .resources = only(model::kResourceClaimResource),
        .purpose = kDevices,
        .needed_by = NeededBy::ResourceClaims,
        .items = &scheduling::Snapshot::resource_claims,
    },
    WatchedKind<model::ResourceClaimTemplate>{
        .kind = Kind::ResourceClaimTemplate,
        .resources = only(model::kResourceClaimTemplateResource),
        .purpose = kDevices,
        .needed_by = NeededBy::ResourceClaims,
        .items = &scheduling::Snapshot::resource_claim_templates,
    },
    WatchedKind<model::ResourceSlice>{
        .kind = Kind::ResourceSlice,
        .resources = only(model::kResourceSliceResource),
        .purpose = kDevices,
        .needed_by = NeededBy::ResourceClaims,
        .items = &scheduling::Snapshot::resource_slices,
    },
    WatchedKind<model::Namespace>{
        .kind = Kind::Namespace,
        .resources = only(model::kNamespaceResource),
        .purpose = kPlans,
        .items = &scheduling::Snapshot::namespaces,
    },
    WatchedKind<model::PriorityClass>{
        .kind = Kind::PriorityClass,
        .resources = only(model::kPriorityClassResource),
        .purpose = "Priority classes: for which pods a node is bought rather than others evicted.",
        .items = &scheduling::Snapshot::priority_classes,
    },
    // Not in the snapshot: a cluster may have tens of thousands of old ReplicaSets.
    WatchedKind<model::Workload>{
        .kind = Kind::Workload,
        .resources = model::kWorkloadResources,
        .purpose = "Workloads: how many of their pods are still to come.",
    },
    WatchedKind<model::ResourceQuota>{
        .kind = Kind::ResourceQuota,
        .resources = only(model::kResourceQuotaResource),
        .purpose = "Quotas: how many more pods a namespace may have.",
    },
    // Awaited: a pod whose peers are not known would be spread over the nodes with nobody.
    WatchedKind<model::PodSelector>{
        .kind = Kind::PodSelector,
        .resources = model::kPodSelectorResources,
        .purpose =
            "What selects pods that have no spread constraints of their own (--scheduler-config).",
        .first_list = FirstList::Awaited,
        .needed_by = NeededBy::DefaultSpread,
        .items = &scheduling::Snapshot::pod_selectors,
    },
    WatchedKind<model::NodeClass>{
        .kind = Kind::NodeClass,
        .resources = {},
        .purpose = "The NodeClasses of each cloud.",
        .items = &scheduling::Snapshot::node_classes,
    },
};

// Calls `visit` with each WatchedKind, in the order of the list.
template <class Visit>
constexpr void for_each_watched_kind(Visit visit) {
  std::apply([&](const auto&... watched) { (visit(watched), ...); }, kWatchedKinds);
}

template <class T>
inline constexpr Kind kKindOf = std::get<WatchedKind<T>>(kWatchedKinds).kind;

// A shared object of any watched kind.
namespace detail {
template <class Tuple>
struct AnyOf;
template <class... T>
struct AnyOf<std::tuple<WatchedKind<T>...>> {
  using type = std::variant<std::shared_ptr<const T>...>;
};
}  // namespace detail
using WatchedObject = detail::AnyOf<std::remove_const_t<decltype(kWatchedKinds)>>::type;

}  // namespace millwright::cluster
