// The live picture, built from events in any order: informers call upsert and remove, readers take
// immutable snapshots. Loop thread only, but for latest(), which any thread may call.
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
  void upsert(std::shared_ptr<const model::DaemonSet> daemon_set);
  void upsert(std::shared_ptr<const model::PodDisruptionBudget> budget);
  void upsert(std::shared_ptr<const model::PersistentVolumeClaim> claim);
  void upsert(std::shared_ptr<const model::PersistentVolume> volume);
  void upsert(std::shared_ptr<const model::StorageClass> storage_class);
  void upsert(std::shared_ptr<const model::CSINode> csi_node);
  void upsert(std::shared_ptr<const model::VolumeAttachment> attachment);
  void upsert(std::shared_ptr<const model::Namespace> namespace_);

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

  // Cheap when nothing changed since the last call.
  scheduling::SnapshotPtr snapshot();
  // The newest snapshot made; never nullptr. Any thread.
  scheduling::SnapshotPtr latest() const;

  // Called on the loop after every change, with the kind that changed ("Pod", "Node", ...).
  void on_change(std::function<void(std::string_view kind, const model::ObjectKey& key)> callback);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::cluster
