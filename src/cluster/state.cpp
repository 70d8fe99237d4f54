#include "millwright/cluster/state.hpp"

#include "cluster/freshness.hpp"
#include "cluster/mirrors.hpp"
#include "cluster/node_table.hpp"
#include "cluster/pod_table.hpp"
#include "cluster/tables.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace millwright::cluster {

struct State::Impl {
  explicit Impl(Ledger& the_ledger)
      : ledger(the_ledger), mirrors(the_ledger, pods, problem), seen(the_ledger.view()) {
    seen_generation = seen->generation;
  }

  Ledger& ledger;
  Mirrors mirrors;
  PodTable pods;
  NodeTable nodes;
  SortedTable<scheduling::NodeRecord, record_key> records;
  Tables<AllWatchedKinds> tables;

  bool synced = false;
  bool changed = false;
  std::uint64_t generation = 0;
  // The ledger as the newest snapshot has it. seen_generation may be ahead of it: the holds that
  // State itself ends after publishing need no new snapshot.
  LedgerViewPtr seen;
  std::uint64_t seen_generation = 0;
  std::vector<std::string>
      done_waiting;  // uids: the next snapshot shows them bound, terminal or gone

  // Keep recent snapshots, so that the loop frees them and not a thread that answers the extender:
  // freeing one touches every record in it.
  std::array<scheduling::SnapshotPtr, 8> recent;
  mutable std::mutex latest_mutex;
  scheduling::SnapshotPtr latest = std::make_shared<const scheduling::Snapshot>();

  std::vector<std::function<void(Kind, const model::ObjectKey&)>> callbacks;
  std::function<void(const std::string&)> problem = [](const std::string&) {};

  void report(Kind kind, const model::ObjectKey& key) {
    changed = true;
    // By index: a callback may cause further changes, or add callbacks.
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      const auto callback = callbacks[i];
      callback(kind, key);
    }
  }

  template <class T>
  void put(const std::shared_ptr<const T>& object) {
    if (accept(tables.of<T>(), name_and_namespace(*object), object)) {
      report(kKindOf<T>, model::key_of(object->meta));
    }
  }
  void put(const std::shared_ptr<const model::NodeClass>& node_class) {
    if (accept(tables.of<model::NodeClass>(), name_and_kind(*node_class), node_class)) {
      report(Kind::NodeClass, model::key_of(node_class->meta));
    }
  }
  void put(const std::shared_ptr<const model::PodSelector>& selector) {
    if (tables.of<model::PodSelector>().put(selector)) {
      report(Kind::PodSelector, model::key_of(selector->meta));
    }
  }
  void put(const std::shared_ptr<const model::Pod>& pod) {
    apply(pods.put(pod), model::key_of(pod->meta));
  }
  void put(const std::shared_ptr<const model::Node>& node);
  void put(const std::shared_ptr<const model::NodeClaim>& claim) {
    put_claim(nodes.put(claim), *claim);
  }

  // False when there is no such object.
  template <class T>
  bool erase(const model::ObjectKey& key, State::Gone gone) {
    if constexpr (std::is_same_v<T, model::Node>) {
      return erase_node(key.name);
    } else if constexpr (std::is_same_v<T, model::NodeClaim>) {
      return erase_claim(key.name);
    } else if constexpr (std::is_same_v<T, model::NodeClass>) {
      return tables.of<T>().erase({key.name, gone.kind});
    } else if constexpr (std::is_same_v<T, model::PodSelector>) {
      return tables.of<T>().erase(gone.kind, {key.name, key.namespace_});
    } else {
      return tables.of<T>().erase({key.name, key.namespace_});
    }
  }

  void apply(PodTable::Change change, const model::ObjectKey& key) {
    if (!change.accepted) {
      return;
    }
    for (const std::string& node : change.nodes) {
      nodes.touch_node(node);
    }
    std::move(change.done_waiting.begin(), change.done_waiting.end(),
              std::back_inserter(done_waiting));
    report(Kind::Pod, key);
  }

  // Once a claim has a node, its holds and what its mirror annotations say count for that node.
  void follow_join(const model::NodeClaim& claim) {
    const NodePtr node = nodes.node_of(claim);
    if (node != nullptr) {
      ledger.rename_target(claim.meta.name, node->meta.name);
    }
    mirrors.read(claim, node == nullptr ? std::string() : node->meta.name);
  }

  void put_claim(NodeTable::Outcome outcome, const model::NodeClaim& claim) {
    if (outcome == NodeTable::Outcome::Ignored) {
      return;
    }
    if (outcome == NodeTable::Outcome::Replaced) {
      mirrors.forget("NodeClaim", claim.meta.name);
    }
    follow_join(claim);
    report(Kind::NodeClaim, model::key_of(claim.meta));
  }

  bool erase_node(const std::string& name) {
    if (!nodes.remove_node(name)) {
      return false;
    }
    ledger.lapse(name);
    ledger.unfence(name);
    mirrors.forget("Node", name);
    return true;
  }
  bool erase_claim(const std::string& name) {
    if (!nodes.remove_claim(name)) {
      return false;
    }
    ledger.lapse(name);
    mirrors.forget("NodeClaim", name);
    return true;
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

// The ledger's lists, shared; without the holds of pods that this snapshot shows bound or gone.
scheduling::SnapshotHolds State::Impl::collect_holds(const LedgerView& view) const {
  std::set<std::string_view> outdated;
  for (const std::string& uid : done_waiting) {
    if (const scheduling::Hold* const hold = view.hold_of(uid)) {
      outdated.insert(hold->target);
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
      return hold.kind == scheduling::HoldKind::Pod &&
             std::binary_search(done_waiting.begin(), done_waiting.end(), hold.pod_uid);
    });
    holds.append(std::make_shared<const std::vector<scheduling::Hold>>(std::move(kept)));
  }
  return holds;
}

State::State(Ledger& ledger) : impl_(std::make_unique<Impl>(ledger)) {}
State::~State() = default;

void State::Impl::put(const std::shared_ptr<const model::Node>& node) {
  const auto outcome = nodes.put(node);
  if (outcome == NodeTable::Outcome::Ignored) {
    return;
  }
  if (outcome == NodeTable::Outcome::Replaced) {
    ledger.unfence(node->meta.name);
    mirrors.forget("Node", node->meta.name);
  }
  if (const ClaimPtr claim = nodes.claim_of(*node)) {
    follow_join(*claim);
  }
  mirrors.read(*node);
  report(Kind::Node, model::key_of(node->meta));
}

void State::upsert(WatchedObject object) {
  std::visit([this](const auto& shared) { impl_->put(shared); }, object);
}

void State::remove(Kind kind, const model::ObjectKey& key, Gone gone) {
  const model::ObjectKey kept = key;  // the argument may live in the object that goes
  if (kind == Kind::Pod) {
    impl_->apply(impl_->pods.remove(kept, gone.uid), kept);
    return;
  }
  for_each_watched_kind([&]<class T>(const WatchedKind<T>& watched) {
    if constexpr (!std::is_same_v<T, model::Pod>) {
      if (watched.kind == kind && impl_->erase<T>(kept, gone)) {
        impl_->report(kind, kept);
      }
    }
  });
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
  std::sort(impl.done_waiting.begin(), impl.done_waiting.end());
  impl.touch_changed_fences(*view);
  impl.rebuild_records(*view);
  auto next = std::make_shared<scheduling::Snapshot>();
  next->generation = ++impl.generation;
  next->synced = impl.synced;
  next->nodes = impl.records.items();
  next->pending_pods = impl.pods.pending();
  for_each_watched_kind([&]<class T>(const WatchedKind<T>& watched) {
    if constexpr (!kIsJoined<T>) {
      *next.*watched.items = impl.tables.of<T>().items();
    }
  });
  next->holds = impl.collect_holds(*view);
  impl.changed = false;
  impl.seen = view;
  impl.seen_generation = view->generation;
  impl.recent[impl.generation % impl.recent.size()] = next;
  {
    const std::scoped_lock lock(impl.latest_mutex);
    impl.latest = next;
  }
  // Only after publishing: a reader that finds a hold gone then takes a snapshot that shows the
  // pod on its node. One that still finds the hold sees that the pod runs there already.
  const Ledger::Generations dropped = impl.ledger.drop_pods(impl.done_waiting);
  if (dropped.before == impl.seen_generation) {
    impl.seen_generation = dropped.after;
  }
  impl.done_waiting.clear();
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

void State::on_change(std::function<void(Kind kind, const model::ObjectKey& key)> callback) {
  impl_->callbacks.push_back(std::move(callback));
}

void State::on_problem(std::function<void(const std::string& message)> callback) {
  impl_->problem = std::move(callback);
}

}  // namespace millwright::cluster
