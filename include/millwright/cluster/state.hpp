// The live picture, built from events in any order: informers call upsert and remove, readers take
// immutable snapshots. Loop thread only, but for latest(), which any thread may call.
//
// Nodes and NodeClaims are joined by providerID under Karpenter's cluster state rules. An event
// that is clearly older than what is known (the same uid with a lower resourceVersion, or an
// object of the name created earlier) is ignored.
//
// State also keeps the ledger true to what every replica can see for itself:
// - a pod that is bound, terminal or gone loses its hold and its attempts in flight, right after
//   the snapshot that shows it is published: room is never counted by neither;
// - a claim that gets its node passes its holds on to the node's name;
// - a target that is gone lets its holds lapse; a Node that is gone loses its fence;
// - mirror annotations (model::kHoldsAnnotation on NodeClaim or Node, kFenceAnnotation on Node or
//   on a NodeClaim that has its node) are read when their text changes, so that followers and a
//   restarted process know what the leader decided.
#pragma once

#include "millwright/cluster/ledger.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::cluster {

class State {
 public:
  explicit State(Ledger& ledger);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void upsert(std::shared_ptr<const model::Pod> pod);
  void upsert(std::shared_ptr<const model::Node> node);
  void upsert(std::shared_ptr<const model::NodeClaim> claim);
  void upsert(std::shared_ptr<const model::NodePool> pool);
  void upsert(std::shared_ptr<const model::NodeClass> node_class);
  void upsert(std::shared_ptr<const model::NodeOverlay> overlay);
  void upsert(std::shared_ptr<const model::CapacityBuffer> buffer);
  void upsert(std::shared_ptr<const model::DaemonSet> daemon_set);
  void upsert(std::shared_ptr<const model::PodDisruptionBudget> budget);
  void upsert(std::shared_ptr<const model::PersistentVolumeClaim> claim);
  void upsert(std::shared_ptr<const model::PersistentVolume> volume);
  void upsert(std::shared_ptr<const model::StorageClass> storage_class);
  void upsert(std::shared_ptr<const model::CSINode> csi_node);
  void upsert(std::shared_ptr<const model::VolumeAttachment> attachment);
  void upsert(std::shared_ptr<const model::Namespace> namespace_);
  void upsert(std::shared_ptr<const model::PodSelector> selector);

  void remove_pod(const model::ObjectKey& key, std::string_view uid);
  void remove_node(std::string_view name);
  void remove_node_claim(std::string_view name);
  void remove_node_pool(std::string_view name);
  void remove_node_class(std::string_view kind, std::string_view name);
  // The remaining kinds, by their Kubernetes kind.
  void remove(std::string_view kind, const model::ObjectKey& key);

  // A claim just created by us counts before its event arrives; the event replaces it.
  void assume(std::shared_ptr<const model::NodeClaim> claim);
  // Chosen for removal: no new pods are planned there. By claim name.
  void mark_for_deletion(std::string_view claim, bool marked);
  void nominate(std::string_view node_or_claim, base::TimePoint until);
  void set_synced(bool synced);

  // Cheap when nothing changed since the last call. Followers need one now and then too: latest()
  // is what their extender answers from.
  scheduling::SnapshotPtr snapshot();
  // The record that snapshot() has of the claim, without a walk over all of its nodes; nullptr when
  // there is none.
  scheduling::NodeRecordPtr find_claim(std::string_view name);
  // The newest snapshot made; never nullptr. Any thread.
  scheduling::SnapshotPtr latest() const;

  // Called on the loop after every change of an object, with its kind ("Pod", "Node", ...; every
  // cloud's NodeClass is "NodeClass"). Callbacks add up; they run in the order they were added.
  void on_change(std::function<void(std::string_view kind, const model::ObjectKey& key)> callback);
  // Called with one sentence for people when a mirror annotation cannot be read; it is ignored.
  void on_problem(std::function<void(const std::string& message)> callback);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::cluster
