#include "millwright/cluster/state.hpp"

#include "cluster/demand_table.hpp"
#include "cluster/freshness.hpp"
#include "cluster/mirrors.hpp"
#include "cluster/node_table.hpp"
#include "cluster/pod_table.hpp"
#include "cluster/shortfalls.hpp"
#include "cluster/tables.hpp"
#include "cluster/volume_limit_table.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace millwright::cluster {

struct State::Impl {
  explicit Impl(Ledger& the_ledger)
      : ledger(the_ledger), mirrors(the_ledger, problem), seen(the_ledger.view()) {}

  Ledger& ledger;
  Mirrors mirrors;
  PodTable pods;
  NodeTable nodes;
  SortedTable<scheduling::NodeRecord, record_key> records;
  Tables<AllWatchedKinds> tables;
  Shortfalls shortfalls;
  VolumeLimitTable volume_limits;

  bool synced = false;
  bool changed = false;
  std::uint64_t generation = 0;
  LedgerViewPtr seen;  // as the newest snapshot has it
  DemandTable demand;
  std::vector<Ledger::Arrival> arrivals;  // the next snapshot shows them
  std::uint64_t placed_elsewhere = 0;

  // Keep recent snapshots, so that the loop frees them and not a thread that answers the extender:
  // freeing one touches every record in it.
  std::array<scheduling::SnapshotPtr, 8> recent;
  mutable std::mutex sight_mutex;
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
  void put(const std::shared_ptr<const model::CSINode>& node) {
    if (accept(tables.of<model::CSINode>(), name_and_namespace(*node), node)) {
      volume_limits.put(*node);
      report(Kind::CSINode, model::key_of(node->meta));
    }
  }
  void put(const std::shared_ptr<const model::PodSelector>& selector) {
    if (tables.of<model::PodSelector>().put(selector)) {
      report(Kind::PodSelector, model::key_of(selector->meta));
    }
  }
  void put(const std::shared_ptr<const model::Workload>& workload) {
    if (settle(tables.of<model::Workload>().put(*workload))) {
      report(Kind::Workload, model::key_of(workload->meta));
    }
  }
  void put(const std::shared_ptr<const model::ResourceQuota>& quota) {
    if (tables.of<model::ResourceQuota>().put(quota)) {
      report(Kind::ResourceQuota, model::key_of(quota->meta));
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
    } else if constexpr (std::is_same_v<T, model::CSINode>) {
      volume_limits.erase_csi_node(key.name);
      return tables.of<T>().erase({key.name, key.namespace_});
    } else if constexpr (std::is_same_v<T, model::NodeClass>) {
      return tables.of<T>().erase({key.name, gone.kind});
    } else if constexpr (std::is_same_v<T, model::PodSelector>) {
      return tables.of<T>().erase(gone.kind, {key.name, key.namespace_});
    } else if constexpr (std::is_same_v<T, model::Workload>) {
      return settle(tables.of<T>().erase(gone.kind, key, gone.uid));
    } else {
      return tables.of<T>().erase({key.name, key.namespace_});
    }
  }

  // False when there are no owners to settle.
  bool settle(const std::vector<std::string>& owners) {
    for (const std::string& owner : owners) {
      shortfalls.settle(owner, tables.of<model::Workload>(), pods);
    }
    return !owners.empty();
  }

  void apply(PodTable::Change change, const model::ObjectKey& key) {
    if (!change.accepted) {
      return;
    }
    for (const std::string& node : change.nodes) {
      nodes.touch_node(node);
    }
    for (const scheduling::PodPtr& pod : change.done_waiting) {
      const bool bound = !pod->spec.node_name.empty() && !model::is_terminal(*pod);
      arrivals.push_back({.pod_uid = pod->meta.uid,
                          .group = bound ? scheduling::group_of(*pod) : scheduling::GroupId(),
                          .node = bound ? pod->spec.node_name : std::string()});
    }
    if (!change.unplaced.empty()) {
      ledger.attempt_failed(change.unplaced);
    }
    settle(change.owners);
    report(Kind::Pod, key);
  }

  // Once a claim has a node, its reservations and what its mirror annotations say count for that
  // node.
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
      ledger.forget_target(claim.meta.name);
      mirrors.forget("NodeClaim", claim.meta.name);
    }
    follow_join(claim);
    report(Kind::NodeClaim, model::key_of(claim.meta));
  }

  bool erase_node(const std::string& name) {
    if (!nodes.remove_node(name)) {
      return false;
    }
    ledger.forget_target(name);
    ledger.unfence(name);
    mirrors.forget("Node", name);
    volume_limits.erase_node(name);
    return true;
  }
  bool erase_claim(const std::string& name) {
    if (!nodes.remove_claim(name)) {
      return false;
    }
    ledger.forget_target(name);
    mirrors.forget("NodeClaim", name);
    return true;
  }

  void touch_changed_fences(const LedgerView& now);
  void rebuild_records(const LedgerView& view);
  static bool knows_owner_of(const model::Pod& pod);
  std::int32_t admitted(const model::Pod& sample, std::int32_t missing);
  std::uint64_t count_elsewhere(const scheduling::Snapshot& next) const;
  scheduling::Demand gather_demand(const scheduling::Snapshot& snapshot);
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

// Pods of these controllers that are to come are known from Shortfalls.
bool State::Impl::knows_owner_of(const model::Pod& pod) {
  const auto& kinds = model::kWorkloadResources;
  return std::any_of(kinds.begin(), kinds.end(), [&](const model::Resource& resource) {
    return pod.meta.controller()->kind == resource.kind;
  });
}

// No more than quotas of the namespace admit now.
std::int32_t State::Impl::admitted(const model::Pod& sample, std::int32_t missing) {
  const model::ResourceList requests = scheduling::effective_requests(sample);
  std::int64_t most = missing;
  for (const auto& quota : tables.of<model::ResourceQuota>().in_namespace(sample.meta.namespace_)) {
    most = std::min(most, model::pods_within(*quota, requests));
  }
  return static_cast<std::int32_t>(std::max<std::int64_t>(most, 0));
}

scheduling::Demand State::Impl::gather_demand(const scheduling::Snapshot& snapshot) {
  for (const scheduling::PodPtr& pod : snapshot.pending_pods) {
    if (!pod->meta.is_deleting() && pod->spec.scheduling_gates.empty() &&
        !model::is_owned_by_daemonset(*pod)) {
      demand.add_waiting(pod);
    }
  }
  for (const scheduling::NodeRecordPtr& record : snapshot.nodes) {
    if (!record->marked_for_deletion && !record->fenced) {
      continue;
    }
    for (const scheduling::PodPtr& pod : record->pods) {
      if (!scheduling::has_successor(*pod) || model::is_owned_by_daemonset(*pod) ||
          model::is_mirror(*pod)) {
        continue;
      }
      // A fence alone may be taken back.
      if (record->marked_for_deletion && !pod->meta.is_deleting()) {
        demand.add_leaving(pod);
      } else if (!pod->meta.is_deleting() || !knows_owner_of(*pod)) {
        demand.add_later(pod);
      }
    }
  }
  shortfalls.for_each([this](const std::string&, std::int32_t missing, bool at_once,
                             const scheduling::PodPtr& sample) {
    demand.add_expected(sample, at_once ? admitted(*sample, missing) : missing, at_once);
  });
  return demand.take();
}

// Pods that were just bound to nodes where nothing is reserved for them, beyond those that their
// groups needed more than was reserved, now or when the scheduler chose the node.
std::uint64_t State::Impl::count_elsewhere(const scheduling::Snapshot& next) const {
  struct Bound {
    std::int32_t all = 0;
    std::int32_t elsewhere = 0;
  };
  std::map<scheduling::GroupId, Bound> bound;
  const LedgerViewPtr view = ledger.view();
  for (const Ledger::Arrival& arrival : arrivals) {
    if (!arrival.node.empty() && !view->targets_of(arrival.group).empty()) {
      Bound& counts = bound[arrival.group];
      ++counts.all;
      const PassPtr pass = ledger.pass_of(arrival.pod_uid);
      const bool let_go = pass != nullptr && pass->beyond_reserved;
      counts.elsewhere += view->find(arrival.group, arrival.node) == nullptr && !let_go ? 1 : 0;
    }
  }
  std::uint64_t total = 0;
  for (const auto& [group, counts] : bound) {
    const auto* const before = scheduling::find_demand(latest->demand, group);
    const auto* const after = scheduling::find_demand(next.demand, group);
    const std::int32_t needed = std::max(before == nullptr ? 0 : before->needed(),
                                         (after == nullptr ? 0 : after->needed()) + counts.all);
    const std::int32_t beyond = std::max(0, needed - view->reserved(group));
    total += static_cast<std::uint64_t>(std::max(0, counts.elsewhere - beyond));
  }
  return total;
}

State::State(Ledger& ledger) : impl_(std::make_unique<Impl>(ledger)) {}
State::~State() = default;

void State::Impl::put(const std::shared_ptr<const model::Node>& node) {
  const auto outcome = nodes.put(node);
  if (outcome == NodeTable::Outcome::Ignored) {
    return;
  }
  if (outcome == NodeTable::Outcome::Replaced) {
    ledger.forget_target(node->meta.name);
    ledger.unfence(node->meta.name);
    mirrors.forget("Node", node->meta.name);
  }
  if (const ClaimPtr claim = nodes.claim_of(*node)) {
    follow_join(*claim);
  }
  mirrors.read(*node);
  volume_limits.put(*node);
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
  if (!impl.changed && view->generation == impl.seen->generation) {
    return latest();
  }
  impl.touch_changed_fences(*view);
  impl.rebuild_records(*view);
  auto next = std::make_shared<scheduling::Snapshot>();
  next->generation = ++impl.generation;
  next->synced = impl.synced;
  next->nodes = impl.records.items();
  next->pending_pods = impl.pods.pending();
  for_each_watched_kind([&]<class T>(const WatchedKind<T>& watched) {
    if constexpr (kIsListed<T>) {
      *next.*watched.items = impl.tables.of<T>().items();
    }
  });
  next->volume_limits = impl.volume_limits.limits();
  next->demand = impl.gather_demand(*next);
  impl.changed = false;
  impl.recent[impl.generation % impl.recent.size()] = next;
  // Together: at no moment is the room of a pod that is being bound missing, or counted twice.
  const std::scoped_lock lock(impl.sight_mutex);
  impl.placed_elsewhere += impl.count_elsewhere(*next);
  impl.ledger.settle(impl.arrivals);
  impl.arrivals.clear();
  if (next->synced) {
    free_surplus(impl.ledger, *next);
  }
  impl.seen = impl.ledger.view();
  for (const auto& [target, list] : impl.seen->by_target) {
    next->reservations.append(list.share());
  }
  impl.latest = next;
  return next;
}

scheduling::NodeRecordPtr State::find_claim(std::string_view name) {
  snapshot();
  const ClaimPtr claim = impl_->nodes.claim(name);
  return claim ? impl_->records.find(impl_->nodes.record_key_of(*claim)) : nullptr;
}

scheduling::SnapshotPtr State::latest() const {
  const std::scoped_lock lock(impl_->sight_mutex);
  return impl_->latest;
}

std::uint64_t State::placed_elsewhere() const {
  return impl_->placed_elsewhere;
}

State::Sight State::sight() const {
  const std::scoped_lock lock(impl_->sight_mutex);
  return {impl_->latest, impl_->ledger.view()};
}

void State::on_change(std::function<void(Kind kind, const model::ObjectKey& key)> callback) {
  impl_->callbacks.push_back(std::move(callback));
}

void State::on_problem(std::function<void(const std::string& message)> callback) {
  impl_->problem = std::move(callback);
}

}  // namespace millwright::cluster
