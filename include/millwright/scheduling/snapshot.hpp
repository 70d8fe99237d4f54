// The immutable picture of the cluster that everything is decided from. Module `cluster` builds it;
// copying one copies pointers, not nodes. All vectors are sorted by name (then namespace) so that
// iteration is deterministic.
#pragma once

#include "millwright/base/chunk_iterator.hpp"
#include "millwright/model/capacity_buffer.hpp"
#include "millwright/model/core.hpp"
#include "millwright/model/devices.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/model/node_overlay.hpp"
#include "millwright/model/pod_selector.hpp"
#include "millwright/scheduling/demand.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

// A Node joined with its NodeClaim (by providerID); either may be missing: an unmanaged node has
// no claim, a claim in flight no node.
struct NodeRecord {
  std::shared_ptr<const model::Node> node;
  std::shared_ptr<const model::NodeClaim> claim;
  std::vector<PodPtr> pods;             // bound and not terminal, sorted by uid
  model::ResourceList pod_requests;     // effective requests of `pods`, "pods" included
  model::ResourceList daemon_requests;  // the part of it that DaemonSet pods make up
  bool marked_for_deletion = false;     // chosen for removal, or its claim or node is deleting
  bool fenced = false;
  // Another Node has its provider id, and the machine may run that one's pods, too.
  bool shares_machine = false;
  std::optional<base::TimePoint> nominated_until;

  // The Node's name, or the claim's while there is no node.
  const std::string& name() const;
  const std::string& claim_name() const;  // empty when unmanaged
  const std::string& node_pool() const;   // karpenter.sh/nodepool, empty when unmanaged
  bool managed() const { return claim != nullptr; }
  bool registered() const;
  bool initialized() const;
  // The condition Ready of a managed node that was up and is not Ready; nullptr of any other.
  const model::Condition* lost_readiness() const;
  // Karpenter's view of a node that is still starting: the claim's labels until registered, its
  // taints until registered, ephemeral and startup taints ignored until initialised, and the
  // claim's capacity where the node still reports zero.
  const model::StringMap& labels() const;
  std::vector<model::Taint> taints() const;
  model::ResourceList capacity() const;
  model::ResourceList allocatable() const;
};
using NodeRecordPtr = std::shared_ptr<const NodeRecord>;

// Every reservation, sorted by target, then group. The ledger's lists, one per target, are shared
// and not copied: there are hundreds of snapshots a minute.
class SnapshotReservations {
 public:
  using List = std::shared_ptr<const std::vector<Reservation>>;
  using value_type = Reservation;

  using const_iterator = base::ChunkIterator<Reservation>;
  using iterator = const_iterator;

  SnapshotReservations() = default;
  // In any order.
  SnapshotReservations(std::vector<Reservation> reservations);  // NOLINT: reads as a list of them

  // Those of a target that sorts after those before it, sorted by group.
  void append(List list);
  const_iterator begin() const { return {&lists_, 0}; }
  const_iterator end() const { return {&lists_, lists_.size()}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::vector<List> lists_;  // none of them empty
  std::size_t size_ = 0;
};

// What drivers published on nodes of each instance type.
struct PublishedDevice {
  std::string driver;
  model::Device device;
  friend bool operator==(const PublishedDevice&, const PublishedDevice&) = default;
};
using PublishedDevices = std::map<std::string, std::vector<PublishedDevice>, std::less<>>;

// Attach limits by instance type.
using VolumeLimits = std::map<std::string, VolumeCounts, std::less<>>;

struct Snapshot {
  std::uint64_t generation = 0;  // grows with every change
  bool synced = false;  // every informer delivered its first list, and has been heard of lately
  std::optional<base::TimePoint> stale_since;  // it was synced, until one was not heard of any more
  std::vector<NodeRecordPtr> nodes;
  std::vector<PodPtr> pending_pods;  // no nodeName, not terminal
  std::vector<std::shared_ptr<const model::NodePool>> node_pools;
  std::vector<std::shared_ptr<const model::NodeClass>> node_classes;
  std::vector<std::shared_ptr<const model::NodeOverlay>> node_overlays;
  std::vector<std::shared_ptr<const model::CapacityBuffer>> capacity_buffers;
  std::vector<std::shared_ptr<const model::DaemonSet>> daemon_sets;
  std::vector<std::shared_ptr<const model::PodDisruptionBudget>> disruption_budgets;
  std::vector<std::shared_ptr<const model::PersistentVolumeClaim>> volume_claims;
  std::vector<std::shared_ptr<const model::PersistentVolume>> volumes;
  std::vector<std::shared_ptr<const model::StorageClass>> storage_classes;
  std::vector<std::shared_ptr<const model::CSINode>> csi_nodes;
  std::vector<std::shared_ptr<const model::VolumeAttachment>> volume_attachments;
  // All of these are empty unless pods with resource claims are planned for.
  std::vector<std::shared_ptr<const model::DeviceClass>> device_classes;
  std::vector<std::shared_ptr<const model::ResourceClaim>> resource_claims;
  std::vector<std::shared_ptr<const model::ResourceClaimTemplate>> resource_claim_templates;
  std::vector<std::shared_ptr<const model::ResourceSlice>> resource_slices;
  // Complete pools of nodes of each instance type: the last word when there are none any more.
  // nullptr: nothing.
  std::shared_ptr<const PublishedDevices> published_devices;
  // What CSINodes said of nodes of each instance type: the least where they differ, and the last
  // word when there are none any more. It counts more than what the cloud tells. nullptr: nothing.
  std::shared_ptr<const VolumeLimits> volume_limits;
  std::vector<std::shared_ptr<const model::Namespace>> namespaces;
  std::vector<std::shared_ptr<const model::PriorityClass>> priority_classes;
  // Of Services and pods' controllers; known only where default spread constraints are.
  std::vector<std::shared_ptr<const model::PodSelector>> pod_selectors;
  SnapshotReservations reservations;
  Demand demand;  // of the pods above, those that leave and those to come
  // Workloads that are about to create or delete pods, all at once, to have as many as they want.
  std::int32_t unsettled_workloads = 0;
  std::int32_t surplus_pods = 0;  // that these are about to delete
  // So many pods were deleted so far that no node had.
  std::uint64_t waiting_pods_gone = 0;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// For how many pods each group has room reserved, CapacityBuffers left out.
std::map<GroupId, std::int32_t> reserved_by_group(const SnapshotReservations& reservations);

// What each pool may buy, by pool name; pools whose types are not known are absent.
using Catalog = std::map<std::string, InstanceTypes, std::less<>>;

}  // namespace millwright::scheduling
