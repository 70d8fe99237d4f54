#include "millwright/cluster/state.hpp"

#include "cluster/demand/departures.hpp"
#include "cluster/demand/gathering.hpp"
#include "cluster/demand/shortfalls.hpp"
#include "cluster/freshness.hpp"
#include "cluster/ledger/elsewhere.hpp"
#include "cluster/ledger/mirrors.hpp"
#include "cluster/ledger/surplus.hpp"
#include "cluster/node_table.hpp"
#include "cluster/pod_table.hpp"
#include "cluster/published_device_table.hpp"
#include "cluster/tables.hpp"
#include "cluster/volume_limit_table.hpp"

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
  Impl(Ledger& the_ledger, Clock the_clock, std::optional<base::Duration> longest_reservation)
      : ledger(the_ledger),
        clock(std::move(the_clock)),
        mirrors(the_ledger, {.problem = problem,
                             .now = clock,
                             .synced = synced,
                             .longest_reservation = longest_reservation}),
        seen(the_ledger.view()) {}

  Ledger& ledger;
  Clock clock;
  Mirrors mirrors;
  PodTable pods;
  NodeTable nodes;
  SortedTable<scheduling::NodeRecord, record_key> records;
  Tables<AllWatchedKinds> tables;
  Shortfalls shortfalls;
  VolumeLimitTable volume_limits;
  PublishedDeviceTable published_devices;
  Departures departures;

  bool synced = false;
  std::optional<base::TimePoint> stale_since;
  bool was_synced = false;  // when the newest snapshot was made
  bool changed = false;
  std::uint64_t generation = 0;
  std::uint64_t waiting_pods_gone = 0;
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
  std::function<void()> now_synced = [] {};
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
    if (accept(tables.of<model::NodeClass>(), class_key(*node_class), node_class)) {
      report(Kind::NodeClass, model::key_of(node_class->meta));
    }
  }
  void put(const std::shared_ptr<const model::CSINode>& node) {
    if (accept(tables.of<model::CSINode>(), name_and_namespace(*node), node)) {
      volume_limits.put(*node);
      report(Kind::CSINode, model::key_of(node->meta));
    }
  }
  void put(const model::ResourceSlicePtr& slice) {
    if (accept(tables.of<model::ResourceSlice>(), name_and_namespace(*slice), slice)) {
      published_devices.put(slice);
      report(Kind::ResourceSlice, model::key_of(slice->meta));
    }
  }
  void put(const std::shared_ptr<const model::PodSelector>& selector) {
    if (tables.of<model::PodSelector>().put(selector)) {
      report(Kind::PodSelector, model::key_of(selector->meta));
    }
  }
  void put(const std::shared_ptr<const model::Workload>& workload) {
    WorkloadTable& workloads = tables.of<model::Workload>();
    const std::vector<std::string> owners = workloads.put(*workload);
    for (const std::string& owner : owners) {
      shortfalls.workload_heard(owner, workloads, pods, clock());
      if (owner == workload->meta.uid && workload->pods == 0 && workload->at_once) {
        shortfalls.wants_none(owner, pods);
      }
    }
    const bool is_news = shortfalls.workload_heard(workload->meta.uid, workloads, pods, clock());
    if (is_news || !owners.empty()) {
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

  template <class T>
  void put_answer(const std::shared_ptr<const T>& object) {
    put(object);
  }
  void put_answer(const std::shared_ptr<const model::NodeClaim>& claim) {
    put_claim(nodes.answered(claim), *claim);
  }

  // What is known under the object's name; nullptr when nothing is, or where nobody asks: this
  // program does not write objects of those kinds, or learns of its writes by the watch.
  template <class T>
  std::shared_ptr<const T> find(const T& object) const {
    if constexpr (std::is_same_v<T, model::Node>) {
      return nodes.node(object.meta.name);
    } else if constexpr (std::is_same_v<T, model::NodeClaim>) {
      return nodes.claim(object.meta.name);
    } else if constexpr (std::is_same_v<T, model::NodeClass>) {
      return tables.of<T>().find(class_key(object));
    } else if constexpr (!kIsJoined<T> &&
                         std::is_same_v<Table<T>, SortedTable<T, name_and_namespace<T>>>) {
      return tables.of<T>().find(name_and_namespace(object));
    } else {
      return nullptr;
    }
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
    } else if constexpr (std::is_same_v<T, model::ResourceSlice>) {
      published_devices.erase_slice(key.name);
      return tables.of<T>().erase({key.name, key.namespace_});
    } else if constexpr (std::is_same_v<T, model::NodeClass>) {
      return tables.of<T>().erase({key.name, gone.kind, gone.group});
    } else if constexpr (std::is_same_v<T, model::PodSelector>) {
      return tables.of<T>().erase(gone.kind, {key.name, key.namespace_});
    } else if constexpr (std::is_same_v<T, model::Workload>) {
      const std::vector<std::string> owners = tables.of<T>().erase(gone.kind, key, gone.uid);
      settle(owners);
      return !owners.empty();
    } else {
      return tables.of<T>().erase({key.name, key.namespace_});
    }
  }

  void settle(const std::vector<std::string>& owners) {
    for (const std::string& owner : owners) {
      shortfalls.pods_changed(owner, tables.of<model::Workload>(), pods, clock());
    }
  }

  // Pods whose controllers do not tell how many they want.
  void note_departures(const PodTable::Change& change) {
    const auto is_untold = [](const model::Pod& pod) {
      return is_replaced(pod) && !model::is_workload(*pod.meta.controller());
    };
    if (change.arrived != nullptr && is_untold(*change.arrived)) {
      departures.arrived(*change.arrived);
    }
    for (const scheduling::PodPtr& pod : change.left) {
      const auto record = records.find({pod->spec.node_name, {}});
      if (record != nullptr && is_closing(*record) && is_untold(*pod)) {
        departures.left(pod, clock());
      }
    }
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
    note_departures(change);
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
      mirrors.forget(claim.meta.name);
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
    volume_limits.erase_node(name);
    published_devices.erase_node(name);
    return true;
  }
  bool erase_claim(const std::string& name) {
    if (!nodes.remove_claim(name)) {
      return false;
    }
    ledger.forget_target(name);
    mirrors.forget(name);
    return true;
  }

  void touch_changed_fences(const LedgerView& now);
  void rebuild_records(const LedgerView& view);
  void add_earlier_arrivals(const LedgerView& view);
  std::vector<Lowering> prepare_settlement(const LedgerView& view,
                                           const scheduling::Snapshot& next);
  void publish(const std::shared_ptr<scheduling::Snapshot>& next,
               const std::vector<Lowering>& surplus);
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

// Of the pods that the first complete lists show, each has used a reservation that an earlier
// process wrote for its node, whichever of pod, node and claim was listed first.
void State::Impl::add_earlier_arrivals(const LedgerView& view) {
  std::set<std::string> noted;
  for (const Ledger::Arrival& arrival : arrivals) {
    noted.insert(arrival.pod_uid);
  }
  for (const auto& [target, list] : view.by_target) {
    const NodePods* const bound = pods.on_node(target);
    if (bound == nullptr) {
      continue;
    }
    for (const scheduling::PodPtr& pod : bound->pods) {
      if (!noted.contains(pod->meta.uid)) {
        arrivals.push_back(
            {.pod_uid = pod->meta.uid, .group = scheduling::group_of(*pod), .node = target});
      }
    }
  }
}

// What the arrivals leave to free. Before the lists are complete nothing is used or freed: what is
// reserved may not be known yet, nor who needs it.
std::vector<Lowering> State::Impl::prepare_settlement(const LedgerView& view,
                                                      const scheduling::Snapshot& next) {
  const bool had_lists = std::exchange(was_synced, synced);
  if (!synced) {
    for (Ledger::Arrival& arrival : arrivals) {
      arrival.node.clear();
    }
    return {};
  }
  if (had_lists) {
    placed_elsewhere += count_elsewhere({.ledger = ledger,
                                         .view = view,
                                         .arrivals = arrivals,
                                         .before = latest->demand,
                                         .after = next.demand});
  } else {
    add_earlier_arrivals(view);
  }
  const bool only_demand_changed = had_lists && view.generation == seen->generation;
  return find_surplus({.ledger = view,
                       .attempts = ledger,
                       .now = clock(),
                       .arrivals = arrivals,
                       .snapshot = next,
                       .before = only_demand_changed ? &latest->demand : nullptr});
}

// Together: at no moment is the room of a pod that is being bound missing, or counted twice. Calls
// of the extender wait meanwhile.
void State::Impl::publish(const std::shared_ptr<scheduling::Snapshot>& next,
                          const std::vector<Lowering>& surplus) {
  const std::scoped_lock lock(sight_mutex);
  ledger.settle(arrivals);
  ledger.compare_unseen(
      [this](const model::ObjectKey& key, std::string_view uid) { return pods.find(key, uid); });
  for (const Lowering& each : surplus) {
    ledger.lower(each.group, each.target, each.by);
  }
  seen = ledger.view();
  for (const auto& [target, list] : seen->by_target) {
    next->reservations.append(list.share());
  }
  latest = next;
}

State::State(Ledger& ledger, Clock clock, std::optional<base::Duration> longest_reservation)
    : impl_(std::make_unique<Impl>(ledger, std::move(clock), longest_reservation)) {}
State::~State() = default;

void State::Impl::put(const std::shared_ptr<const model::Node>& node) {
  const auto outcome = nodes.put(node);
  if (outcome == NodeTable::Outcome::Ignored) {
    return;
  }
  if (outcome == NodeTable::Outcome::Replaced) {
    ledger.forget_target(node->meta.name);
    ledger.unfence(node->meta.name);
  }
  if (const ClaimPtr claim = nodes.claim_of(*node)) {
    follow_join(*claim);
  }
  volume_limits.put(*node);
  published_devices.put(*node);
  report(Kind::Node, model::key_of(node->meta));
}

void State::upsert(WatchedObject object) {
  std::visit([this](const auto& shared) { impl_->put(shared); }, object);
}

void State::answered(WatchedObject object) {
  std::visit(
      [this](const auto& shared) {
        const auto known = impl_->find(*shared);
        if (known != nullptr && known->meta.uid == shared->meta.uid) {
          impl_->put_answer(shared);
        }
      },
      object);
}

void State::remove(Kind kind, const model::ObjectKey& key, Gone gone) {
  const model::ObjectKey kept = key;  // the argument may live in the object that goes
  if (kind == Kind::Pod) {
    const auto change = impl_->pods.remove(kept, gone.uid);
    impl_->waiting_pods_gone += change.done_waiting.size();
    impl_->apply(change, kept);
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

void State::expect_claim(const std::string& name) {
  impl_->nodes.expect(name);
}

void State::stop_expecting(const std::string& name) {
  impl_->nodes.stop_expecting(name);
}

void State::assume(std::shared_ptr<const model::NodeClaim> claim) {
  impl_->put_claim(impl_->nodes.assume(claim), *claim);
}

void State::withdraw(const model::NodeClaim& claim) {
  if (impl_->nodes.is_assumed(claim)) {
    remove<model::NodeClaim>(model::key_of(claim.meta));
  }
}

void State::mark_for_deletion(std::string_view claim, bool marked) {
  impl_->changed = impl_->nodes.mark(claim, marked) || impl_->changed;
}

void State::nominate(std::string_view node_or_claim, base::TimePoint until) {
  impl_->changed = impl_->nodes.nominate(node_or_claim, until) || impl_->changed;
}

void State::set_synced(bool synced) {
  if (std::exchange(impl_->synced, synced) == synced) {
    return;
  }
  impl_->changed = true;
  if (synced && !impl_->stale_since) {
    impl_->now_synced();
  }
}

void State::set_fresh(bool fresh) {
  if (fresh == !impl_->stale_since) {
    return;
  }
  impl_->changed = true;
  impl_->stale_since = fresh ? std::nullopt : std::optional(impl_->clock());
  if (fresh && impl_->synced) {
    impl_->now_synced();
  }
}

scheduling::SnapshotPtr State::snapshot() {
  Impl& impl = *impl_;
  impl.changed = impl.departures.expire(impl.clock()) || impl.changed;
  impl.changed = impl.shortfalls.expire(impl.clock()) || impl.changed;
  const LedgerViewPtr view = impl.ledger.view();
  if (!impl.changed && view->generation == impl.seen->generation) {
    return latest();
  }
  impl.touch_changed_fences(*view);
  impl.rebuild_records(*view);
  auto next = std::make_shared<scheduling::Snapshot>();
  next->generation = ++impl.generation;
  next->synced = impl.synced && !impl.stale_since;
  next->stale_since = impl.stale_since;
  next->nodes = impl.records.items();
  next->pending_pods = impl.pods.pending();
  for_each_watched_kind([&]<class T>(const WatchedKind<T>& watched) {
    if constexpr (kIsListed<T>) {
      *next.*watched.items = impl.tables.of<T>().items();
    }
  });
  next->unsettled_workloads = impl.shortfalls.unsettled();
  next->surplus_pods = impl.shortfalls.surplus_pods();
  next->waiting_pods_gone = impl.waiting_pods_gone;
  next->volume_limits = impl.volume_limits.limits();
  next->published_devices = impl.published_devices.devices();
  next->demand = gather_demand(impl.demand, *next,
                               {.shortfalls = impl.shortfalls,
                                .departures = impl.departures,
                                .quotas = impl.tables.of<model::ResourceQuota>(),
                                .use = impl.pods.use()});
  impl.changed = false;
  impl.recent[impl.generation % impl.recent.size()] = next;
  impl.publish(next, impl.prepare_settlement(*view, *next));
  impl.arrivals.clear();
  return next;
}

scheduling::NodeRecordPtr State::find_claim(std::string_view name) {
  snapshot();
  const ClaimPtr claim = impl_->nodes.claim(name);
  return claim ? impl_->records.find(impl_->nodes.record_key_of(*claim)) : nullptr;
}

State::Joined State::joined_by_claim(std::string_view name) const {
  const ClaimPtr claim = impl_->nodes.claim(name);
  return {.claim = claim, .node = claim ? impl_->nodes.node_of(*claim) : nullptr};
}

State::Joined State::joined_by_node(std::string_view name) const {
  const NodePtr node = impl_->nodes.node(name);
  return {.claim = node ? impl_->nodes.claim_of(*node) : nullptr, .node = node};
}

std::shared_ptr<const model::NodePool> State::find_pool(std::string_view name) const {
  return impl_->tables.of<model::NodePool>().find({name, {}});
}

std::shared_ptr<const model::ResourceSlice> State::find_slice(std::string_view name) const {
  return impl_->tables.of<model::ResourceSlice>().find({name, {}});
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

void State::on_synced(std::function<void()> callback) {
  impl_->now_synced = std::move(callback);
}

void State::on_problem(std::function<void(const std::string& message)> callback) {
  impl_->problem = std::move(callback);
}

}  // namespace millwright::cluster
