#include "millwright/cluster/state.hpp"

#include "cluster/freshness.hpp"
#include "cluster/mirrors.hpp"
#include "cluster/node_table.hpp"
#include "cluster/pod_table.hpp"
#include "cluster/selector_table.hpp"
#include "cluster/sorted_table.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace millwright::cluster {
namespace {

TableKeyView name_and_kind(const model::NodeClass& node_class) {
  return {node_class.meta.name, node_class.kind};
}

template <class T>
using Table = SortedTable<T, name_and_namespace<T>>;

}  // namespace

struct State::Impl {
  explicit Impl(Ledger& the_ledger)
      : ledger(the_ledger), mirrors(the_ledger), seen(the_ledger.view()) {
    seen_generation = seen->generation;
  }

  Ledger& ledger;
  Mirrors mirrors;
  PodTable pods;
  NodeTable nodes;
  SortedTable<scheduling::NodeRecord, record_key> records;
  Table<model::NodePool> node_pools;
  SortedTable<model::NodeClass, name_and_kind> node_classes;
  Table<model::NodeOverlay> node_overlays;
  Table<model::CapacityBuffer> capacity_buffers;
  Table<model::DaemonSet> daemon_sets;
  Table<model::PodDisruptionBudget> budgets;
  Table<model::PersistentVolumeClaim> volume_claims;
  Table<model::PersistentVolume> volumes;
  Table<model::StorageClass> storage_classes;
  Table<model::CSINode> csi_nodes;
  Table<model::VolumeAttachment> attachments;
  Table<model::Namespace> namespaces;
  SelectorTable pod_selectors;

  bool synced = false;
  bool changed = false;
  std::uint64_t generation = 0;
  // The ledger as the newest snapshot has it. Its generation may be ahead of the view: what State
  // itself took out of the ledger after publishing is no news.
  LedgerViewPtr seen;
  std::uint64_t seen_generation = 0;
  std::vector<std::string> settled_uids;  // of pods the next snapshot shows settled

  // Kept a while so that the last reader to let go is most often the loop: to let go of a
  // snapshot is to touch every record in it, and an extender call has no time for that.
  std::array<scheduling::SnapshotPtr, 8> recent;
  mutable std::mutex latest_mutex;
  scheduling::SnapshotPtr latest = std::make_shared<const scheduling::Snapshot>();

  std::vector<std::function<void(std::string_view, const model::ObjectKey&)>> callbacks;
  std::function<void(const std::string&)> problem = [](const std::string&) {};

  void report(std::string_view kind, const model::ObjectKey& key) {
    changed = true;
    // By index: a callback may cause further changes, or add callbacks.
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      const auto callback = callbacks[i];
      callback(kind, key);
    }
  }

  template <class AnyTable, class T>
  void upsert(AnyTable& table, TableKeyView table_key, std::string_view kind,
              const std::shared_ptr<const T>& object) {
    if (accept(table, table_key, object)) {
      report(kind, model::key_of(object->meta));
    }
  }
  template <class T>
  void upsert(Table<T>& table, std::string_view kind, const std::shared_ptr<const T>& object) {
    upsert(table, name_and_namespace(*object), kind, object);
  }
  template <class AnyTable>
  void remove(AnyTable& table, TableKeyView table_key, std::string_view kind,
              const model::ObjectKey& key) {
    if (table.erase(table_key)) {
      report(kind, key);
    }
  }

  void apply(PodTable::Change change, const model::ObjectKey& key) {
    if (!change.accepted) {
      return;
    }
    for (const std::string& node : change.nodes) {
      nodes.touch_node(node);
    }
    std::move(change.settled_uids.begin(), change.settled_uids.end(),
              std::back_inserter(settled_uids));
    report("Pod", key);
  }

  // The claim is known now under its node's name, if it has one; and what its mirror says counts
  // for that name.
  void follow_join(const model::NodeClaim& claim) {
    const NodePtr node = nodes.node_of(claim);
    if (node != nullptr) {
      ledger.rename_target(claim.meta.name, node->meta.name);
    }
    mirrors.read(claim, node == nullptr ? std::string() : node->meta.name, pods, problem);
  }

  void put_claim(NodeTable::Outcome outcome, const model::NodeClaim& claim) {
    if (outcome == NodeTable::Outcome::Ignored) {
      return;
    }
    if (outcome == NodeTable::Outcome::Replaced) {
      mirrors.forget("NodeClaim", claim.meta.name);
    }
    follow_join(claim);
    report("NodeClaim", model::key_of(claim.meta));
  }

  void drop_node(std::string_view name) {
    ledger.lapse(name);
    ledger.unfence(name);
    mirrors.forget("Node", name);
  }

  void touch_changed_fences(const LedgerView& now);
  void rebuild_records(const LedgerView& view);
  scheduling::SnapshotHolds collect_holds(const LedgerView& view) const;
};

void State::Impl::touch_changed_fences(const LedgerView& now) {
  const auto touch_missing = [this](const LedgerView& from, const LedgerView& in) {
    for (const auto& [node, fence] : from.fences_by_node) {
      if (!in.fences_by_node.contains(node)) {
        nodes.touch_node(node);
      }
    }
  };
  touch_missing(now, *seen);
  touch_missing(*seen, now);
}

void State::Impl::rebuild_records(const LedgerView& view) {
  for (const TableKey& key : nodes.take_touched()) {
    const auto record = nodes.build(key);
    if (record == nullptr) {
      records.erase(key);
      continue;
    }
    if (record->node != nullptr) {
      record->fenced = view.fences_by_node.contains(record->node->meta.name);
      if (const NodePods* const bound = pods.on_node(record->node->meta.name)) {
        record->pods = bound->pods;
        record->pod_requests = bound->requests;
        record->daemon_requests = bound->daemon_requests;
      }
    }
    records.put(record);
  }
}

// Shares the ledger's lists, but for those that name a pod which this snapshot shows settled.
scheduling::SnapshotHolds State::Impl::collect_holds(const LedgerView& view) const {
  std::set<std::string_view> outdated;
  for (const std::string& uid : settled_uids) {
    const auto target = view.target_by_pod_uid.find(uid);
    if (target != view.target_by_pod_uid.end()) {
      outdated.insert(target->second);
    }
  }
  scheduling::SnapshotHolds holds;
  for (const auto& [target, list] : view.holds_by_target) {
    if (!outdated.contains(target)) {
      holds.append(list.share());
      continue;
    }
    std::vector<scheduling::Hold> kept = list.items();
    std::erase_if(kept, [this](const auto& hold) {
      return std::binary_search(settled_uids.begin(), settled_uids.end(), hold.pod_uid);
    });
    holds.append(std::make_shared<const std::vector<scheduling::Hold>>(std::move(kept)));
  }
  return holds;
}

State::State(Ledger& ledger) : impl_(std::make_unique<Impl>(ledger)) {}
State::~State() = default;

void State::upsert(std::shared_ptr<const model::Pod> pod) {
  const model::ObjectKey key = model::key_of(pod->meta);
  impl_->apply(impl_->pods.put(std::move(pod)), key);
}

void State::upsert(std::shared_ptr<const model::Node> node) {
  const auto outcome = impl_->nodes.put(node);
  if (outcome == NodeTable::Outcome::Ignored) {
    return;
  }
  if (outcome == NodeTable::Outcome::Replaced) {
    impl_->ledger.unfence(node->meta.name);
    impl_->mirrors.forget("Node", node->meta.name);
  }
  if (const ClaimPtr claim = impl_->nodes.claim_of(*node)) {
    impl_->follow_join(*claim);
  }
  impl_->mirrors.read(*node, impl_->pods, impl_->problem);
  impl_->report("Node", model::key_of(node->meta));
}

void State::upsert(std::shared_ptr<const model::NodeClaim> claim) {
  impl_->put_claim(impl_->nodes.put(claim), *claim);
}
void State::upsert(std::shared_ptr<const model::NodePool> pool) {
  impl_->upsert(impl_->node_pools, "NodePool", pool);
}
void State::upsert(std::shared_ptr<const model::NodeClass> node_class) {
  impl_->upsert(impl_->node_classes, name_and_kind(*node_class), "NodeClass", node_class);
}
void State::upsert(std::shared_ptr<const model::NodeOverlay> overlay) {
  impl_->upsert(impl_->node_overlays, "NodeOverlay", overlay);
}
void State::upsert(std::shared_ptr<const model::CapacityBuffer> buffer) {
  impl_->upsert(impl_->capacity_buffers, "CapacityBuffer", buffer);
}
void State::upsert(std::shared_ptr<const model::DaemonSet> daemon_set) {
  impl_->upsert(impl_->daemon_sets, "DaemonSet", daemon_set);
}
void State::upsert(std::shared_ptr<const model::PodDisruptionBudget> budget) {
  impl_->upsert(impl_->budgets, "PodDisruptionBudget", budget);
}
void State::upsert(std::shared_ptr<const model::PersistentVolumeClaim> claim) {
  impl_->upsert(impl_->volume_claims, "PersistentVolumeClaim", claim);
}
void State::upsert(std::shared_ptr<const model::PersistentVolume> volume) {
  impl_->upsert(impl_->volumes, "PersistentVolume", volume);
}
void State::upsert(std::shared_ptr<const model::StorageClass> storage_class) {
  impl_->upsert(impl_->storage_classes, "StorageClass", storage_class);
}
void State::upsert(std::shared_ptr<const model::CSINode> csi_node) {
  impl_->upsert(impl_->csi_nodes, "CSINode", csi_node);
}
void State::upsert(std::shared_ptr<const model::VolumeAttachment> attachment) {
  impl_->upsert(impl_->attachments, "VolumeAttachment", attachment);
}
void State::upsert(std::shared_ptr<const model::Namespace> namespace_) {
  impl_->upsert(impl_->namespaces, "Namespace", namespace_);
}
void State::upsert(std::shared_ptr<const model::PodSelector> selector) {
  if (impl_->pod_selectors.put(selector)) {
    impl_->report(selector->kind, model::key_of(selector->meta));
  }
}

void State::remove_pod(const model::ObjectKey& key, std::string_view uid) {
  impl_->apply(impl_->pods.remove(key, uid), key);
}

void State::remove_node(std::string_view name) {
  const std::string kept(name);
  if (impl_->nodes.remove_node(kept)) {
    impl_->drop_node(kept);
    impl_->report("Node", {{}, kept});
  }
}

void State::remove_node_claim(std::string_view name) {
  const std::string kept(name);
  if (impl_->nodes.remove_claim(kept)) {
    impl_->ledger.lapse(kept);
    impl_->mirrors.forget("NodeClaim", kept);
    impl_->report("NodeClaim", {{}, kept});
  }
}

void State::remove_node_pool(std::string_view name) {
  impl_->remove(impl_->node_pools, {name, {}}, "NodePool", {{}, std::string(name)});
}

void State::remove_node_class(std::string_view kind, std::string_view name) {
  impl_->remove(impl_->node_classes, {name, kind}, "NodeClass", {{}, std::string(name)});
}

void State::remove(std::string_view kind, const model::ObjectKey& key) {
  const TableKeyView table_key{key.name, key.namespace_};
  const auto remove_if = [&](std::string_view table_kind, auto& table) {
    if (kind == table_kind) {
      impl_->remove(table, table_key, table_kind, key);
    }
  };
  remove_if("NodeOverlay", impl_->node_overlays);
  remove_if("CapacityBuffer", impl_->capacity_buffers);
  remove_if("DaemonSet", impl_->daemon_sets);
  remove_if("PodDisruptionBudget", impl_->budgets);
  remove_if("PersistentVolumeClaim", impl_->volume_claims);
  remove_if("PersistentVolume", impl_->volumes);
  remove_if("StorageClass", impl_->storage_classes);
  remove_if("CSINode", impl_->csi_nodes);
  remove_if("VolumeAttachment", impl_->attachments);
  remove_if("Namespace", impl_->namespaces);
  if (impl_->pod_selectors.erase(kind, table_key)) {
    impl_->report(kind, key);
  }
}

void State::assume(std::shared_ptr<const model::NodeClaim> claim) {
  impl_->put_claim(impl_->nodes.assume(claim), *claim);
}

void State::mark_for_deletion(std::string_view claim, bool marked) {
  impl_->changed = impl_->nodes.mark(claim, marked) || impl_->changed;
}

void State::nominate(std::string_view node_or_claim, base::TimePoint until) {
  impl_->changed = impl_->nodes.nominate(node_or_claim, until) || impl_->changed;
}

void State::set_synced(bool synced) {
  impl_->changed = impl_->changed || synced != impl_->synced;
  impl_->synced = synced;
}

scheduling::SnapshotPtr State::snapshot() {
  Impl& impl = *impl_;
  const LedgerViewPtr view = impl.ledger.view();
  if (!impl.changed && view->generation == impl.seen_generation) {
    return latest();
  }
  std::sort(impl.settled_uids.begin(), impl.settled_uids.end());
  impl.touch_changed_fences(*view);
  impl.rebuild_records(*view);
  auto next = std::make_shared<scheduling::Snapshot>();
  next->generation = ++impl.generation;
  next->synced = impl.synced;
  next->nodes = impl.records.items();
  next->pending_pods = impl.pods.pending();
  next->node_pools = impl.node_pools.items();
  next->node_classes = impl.node_classes.items();
  next->node_overlays = impl.node_overlays.items();
  next->capacity_buffers = impl.capacity_buffers.items();
  next->daemon_sets = impl.daemon_sets.items();
  next->disruption_budgets = impl.budgets.items();
  next->volume_claims = impl.volume_claims.items();
  next->volumes = impl.volumes.items();
  next->storage_classes = impl.storage_classes.items();
  next->csi_nodes = impl.csi_nodes.items();
  next->volume_attachments = impl.attachments.items();
  next->namespaces = impl.namespaces.items();
  next->pod_selectors = impl.pod_selectors.items();
  next->holds = impl.collect_holds(*view);
  impl.changed = false;
  impl.seen = view;
  impl.seen_generation = view->generation;
  impl.recent[impl.generation % impl.recent.size()] = next;
  {
    const std::scoped_lock lock(impl.latest_mutex);
    impl.latest = next;
  }
  // Only now: a reader that finds a hold gone takes a snapshot that shows its pod (and one that
  // still finds it recognises the pod on the node).
  const Ledger::Generations settled = impl.ledger.settle_all(impl.settled_uids);
  if (settled.before == impl.seen_generation) {
    impl.seen_generation = settled.after;
  }
  impl.settled_uids.clear();
  return next;
}

scheduling::NodeRecordPtr State::find_claim(std::string_view name) {
  snapshot();
  const ClaimPtr claim = impl_->nodes.claim(name);
  return claim ? impl_->records.find(impl_->nodes.record_key_of(*claim)) : nullptr;
}

scheduling::SnapshotPtr State::latest() const {
  const std::scoped_lock lock(impl_->latest_mutex);
  return impl_->latest;
}

void State::on_change(
    std::function<void(std::string_view kind, const model::ObjectKey& key)> callback) {
  impl_->callbacks.push_back(std::move(callback));
}

void State::on_problem(std::function<void(const std::string& message)> callback) {
  impl_->problem = std::move(callback);
}

}  // namespace millwright::cluster
