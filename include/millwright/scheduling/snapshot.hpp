// The immutable picture of the cluster that everything is decided from. Module `cluster` builds it;
// copying one copies pointers, not nodes. All vectors are sorted by name (then namespace) so that
// iteration is deterministic.
#pragma once

#include "millwright/base/chunk_iterator.hpp"
#include "millwright/model/capacity_buffer.hpp"
#include "millwright/model/core.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/model/node_overlay.hpp"
#include "millwright/model/pod_selector.hpp"
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

using PodPtr = std::shared_ptr<const model::Pod>;

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
  std::optional<base::TimePoint> nominated_until;

  // The Node's name, or the claim's while there is no node.
  const std::string& name() const;
  const std::string& claim_name() const;  // empty when unmanaged
  const std::string& node_pool() const;   // karpenter.sh/nodepool, empty when unmanaged
  bool managed() const { return claim != nullptr; }
  bool registered() const;
  bool initialized() const;
  // Karpenter's view of a node that is still starting: the claim's labels until registered, its
  // taints until registered, ephemeral and startup taints ignored until initialised, and the
  // claim's capacity where the node still reports zero.
  const model::StringMap& labels() const;
  std::vector<model::Taint> taints() const;
  model::ResourceList capacity() const;
  model::ResourceList allocatable() const;
};
using NodeRecordPtr = std::shared_ptr<const NodeRecord>;

// Whose room a hold keeps.
enum class HoldKind : std::uint8_t {
  Pod,        // the pod's own
  Successor,  // the pod runs on a node being removed; whoever its controller creates for it
              // inherits
  Buffer,     // a virtual pod of a CapacityBuffer; a pod of the buffer's workload inherits
};

// What names a hold: a pod may have one hold of each kind.
struct HoldId {
  HoldKind kind = HoldKind::Pod;
  std::string pod_uid;
  friend auto operator<=>(const HoldId&, const HoldId&) = default;
};

// What `target` of a hold is.
enum class HoldTarget : std::uint8_t {
  Name,  // of a node, or of a claim
  // The claim is being created and has no name yet: the uid of the first of its pods. The hold
  // keeps its pod from every node. What the claim itself says, once it is seen, replaces it.
  PlannedClaim,
};

// Room kept for a named pod on a node or on a claim in flight.
struct Hold {
  HoldKind kind = HoldKind::Pod;
  std::string pod_uid;
  model::ObjectKey pod;
  std::string target;
  model::ResourceList requests;
  std::int32_t priority = 0;
  base::TimePoint deadline;
  // UID of the pod's controller, whose other pods may inherit the hold.
  std::string owner_uid;
  HoldTarget target_is = HoldTarget::Name;

  HoldId id() const { return {kind, pod_uid}; }
  bool is_of(std::string_view uid) const { return kind == HoldKind::Pod && pod_uid == uid; }
  friend bool operator==(const Hold&, const Hold&) = default;
};

// Every hold, sorted by target, then kind and pod uid. The ledger's lists, one per target, are
// shared and not copied: a burst has thousands of holds and hundreds of snapshots.
class SnapshotHolds {
 public:
  using List = std::shared_ptr<const std::vector<Hold>>;
  using value_type = Hold;

  using const_iterator = base::ChunkIterator<Hold>;
  using iterator = const_iterator;

  SnapshotHolds() = default;
  // In any order.
  SnapshotHolds(std::vector<Hold> holds);  // NOLINT: reads as a list of holds

  // The holds of a target that sorts after those before it, sorted by kind and pod uid.
  void append(List list);
  const_iterator begin() const { return {&lists_, 0}; }
  const_iterator end() const { return {&lists_, lists_.size()}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::vector<List> lists_;  // none of them empty
  std::size_t size_ = 0;
};

struct Snapshot {
  std::uint64_t generation = 0;  // grows with every change
  bool synced = false;           // every informer delivered its first list
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
  std::vector<std::shared_ptr<const model::Namespace>> namespaces;
  // Of Services and pods' controllers; known only where default spread constraints are.
  std::vector<std::shared_ptr<const model::PodSelector>> pod_selectors;
  SnapshotHolds holds;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// What each pool may buy, by pool name; pools whose types are not known are absent.
using Catalog = std::map<std::string, InstanceTypes, std::less<>>;

}  // namespace millwright::scheduling
