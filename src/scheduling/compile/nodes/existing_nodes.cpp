#include "scheduling/compile/nodes/existing_nodes.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>

namespace millwright::scheduling {
namespace {

constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

// Two additions to what the record says. A managed node that is not ready at the moment is still
// capacity, or every hiccup of a kubelet would buy a node (one that is unreachable is not). And a
// cordoned node is closed even before the node controller has tainted it.
std::vector<model::Taint> planning_taints(const NodeRecord& record) {
  std::vector<model::Taint> taints = record.taints();
  if (record.managed()) {
    std::erase_if(taints, [](const model::Taint& taint) { return taint.key == kNotReadyTaint; });
  }
  const bool marked = std::any_of(taints.begin(), taints.end(), [](const model::Taint& taint) {
    return taint.key == kUnschedulableTaint;
  });
  if (record.node && record.node->unschedulable && !marked) {
    taints.push_back({.key = std::string(kUnschedulableTaint), .effect = "NoSchedule"});
  }
  return taints;
}

const PoolTemplate* template_of(const NodeRecord& record, std::span<const PoolTemplate> pools) {
  const auto found = std::find_if(pools.begin(), pools.end(), [&](const PoolTemplate& pool) {
    return pool.name() == record.node_pool();
  });
  return found == pools.end() ? nullptr : &*found;
}

// Those that may take pods: initialised ones first, then by name.
std::vector<NodeRecordPtr> in_order(const std::vector<NodeRecordPtr>& records) {
  std::vector<NodeRecordPtr> result;
  result.reserve(records.size());
  std::copy_if(records.begin(), records.end(), std::back_inserter(result),
               [](const auto& record) { return !record->marked_for_deletion && !record->fenced; });
  const auto by_name = [](const NodeRecordPtr& a, const NodeRecordPtr& b) {
    return a->name() < b->name();
  };
  // Snapshots list them by name already.
  if (!std::is_sorted(result.begin(), result.end(), by_name)) {
    std::sort(result.begin(), result.end(), by_name);
  }
  std::stable_partition(result.begin(), result.end(),
                        [](const NodeRecordPtr& record) { return record->initialized(); });
  return result;
}

// Finds nodes of the memory, when they are asked for in order.
class Remembered {
 public:
  explicit Remembered(std::vector<ExistingNode> nodes) : nodes_(std::move(nodes)) {}

  // nullptr when the record is not the one that was compiled.
  ExistingNode* find(const NodeRecordPtr& record) {
    const auto key_of = [](const NodeRecord& each) {
      return std::tuple<bool, std::string_view>(!each.initialized(), each.name());
    };
    while (next_ < nodes_.size() && nodes_[next_].record != record &&
           key_of(*nodes_[next_].record) < key_of(*record)) {
      ++next_;
    }
    return next_ < nodes_.size() && nodes_[next_].record == record ? &nodes_[next_++] : nullptr;
  }

 private:
  std::vector<ExistingNode> nodes_;
  std::size_t next_ = 0;
};

}  // namespace

const model::Taint* blocking_taint(std::span<const model::Taint> taints,
                                   const Constraint& constraint, const Rung& rung) {
  for (const model::Taint& taint : taints) {
    const bool soft = taint.effect == "PreferNoSchedule";
    if (!(soft && rung.tolerates_preferences) &&
        model::first_untolerated({&taint, 1}, constraint.tolerations) != nullptr) {
      return &taint;
    }
  }
  return nullptr;
}

bool ExistingNode::admits(const Constraint& constraint, const Rung& rung) const {
  return blocking_taint(taints, constraint, rung) == nullptr && meets(rung.requirements);
}

bool ExistingNode::meets(const Requirements& wanted) const {
  if (unlaunched) {
    return always_satisfies(guaranteed, wanted);
  }
  const model::StringMap& labels = record->labels();
  return std::all_of(wanted.begin(), wanted.end(), [&](const Requirement& want) {
    const auto label = labels.find(want.key());
    if (label != labels.end()) {
      return want.has(label->second);
    }
    return want.key() == model::kHostnameLabel ? want.has(record->name()) : want.admits_absence();
  });
}

bool ExistingNode::counts_for(const NodeFilter& filter) const {
  return filter.tolerates(taints) &&
         (filter.alternatives.empty() ||
          std::any_of(filter.alternatives.begin(), filter.alternatives.end(),
                      [&](const Requirements& alternative) { return meets(alternative); }));
}

bool ExistingNode::may_count_for(const NodeFilter& filter) const {
  if (!unlaunched) {
    return counts_for(filter);
  }
  return filter.tolerates(taints) &&
         (filter.alternatives.empty() ||
          std::any_of(filter.alternatives.begin(), filter.alternatives.end(),
                      [&](const Requirements& alternative) {
                        return guaranteed.compatible(alternative, AllowUndefined::WellKnown);
                      }));
}

ExistingNodes::ExistingNodes(const Problem& problem, const PodClasses& pods,
                             std::span<const PoolTemplate> pools,
                             std::span<const DaemonPod> daemons, NodeMemory memory)
    : pods_(pods) {
  if (memory.columns != pods.columns ||
      !std::equal(daemons.begin(), daemons.end(), memory.daemons.begin(), memory.daemons.end())) {
    memory.nodes.clear();
  }
  Remembered remembered(std::move(memory.nodes));
  nodes_.reserve(problem.nodes.size());
  for (NodeRecordPtr& record : in_order(problem.nodes)) {
    // What is still to be launched depends on its pool, too.
    if (ExistingNode* same = remembered.find(record);
        same != nullptr && !same->promised && !same->unlaunched) {
      same->ports = {};
      same->volumes = {};
      nodes_.push_back(std::move(*same));
      continue;
    }
    nodes_.push_back(compile(std::move(record), pools, daemons));
  }
  if (std::any_of(pods.constraints.begin(), pods.constraints.end(),
                  [](const Constraint& constraint) { return !constraint.ports.empty(); })) {
    take_ports();
  }
  if (pods.volumes.size() > 1 && problem.cluster) {
    take_volumes(*problem.cluster, pools);
  }
  apply_kept_room(problem);
}

ExistingNode ExistingNodes::compile(NodeRecordPtr record, std::span<const PoolTemplate> pools,
                                    std::span<const DaemonPod> daemons) const {
  ExistingNode node;
  node.taints = planning_taints(*record);
  node.unlaunched = is_unlaunched(*record);
  node.record = std::move(record);
  set_room(node, pools, daemons);
  for (const VolumeColumn& volumes : pods_.volume_columns) {
    node.room[volumes.column] = kAnyVolumes;
  }
  return node;
}

void ExistingNodes::set_room(ExistingNode& node, std::span<const PoolTemplate> pools,
                             std::span<const DaemonPod> daemons) const {
  const Columns& columns = pods_.columns;
  const NodeRecord& record = *node.record;
  if (node.unlaunched) {
    const PoolTemplate* pool = template_of(record, pools);
    const RowSet rows = pool ? launch_options(*record.claim, *pool->table) : RowSet();
    if (!rows.empty()) {
      node.guaranteed = guaranteed_labels(*record.claim, *pool->table, rows);
      // What is sold out may be there again when the claim is launched.
      const RowSet any = pool->table->admitted(Requirements(record.claim->requirements));
      node.room = guaranteed_room(pool->room, any, columns.size());
      return;
    }
    // Its types are not known; but it was made for these requests, its DaemonSets' among them.
    node.guaranteed = Requirements(record.claim->requirements);
    node.guaranteed.add(Requirements::from_labels(record.claim->meta.labels));
    node.room = columns.amounts(record.claim->requests);
  } else if (!record.node || !record.initialized()) {
    node.room = columns.amounts(record.allocatable());
  } else {
    node.room = columns.amounts(record.node->allocatable);  // no copy: most nodes are these
  }
  subtract_from(node.room, columns.amounts(record.pod_requests));
  if (daemons.empty()) {
    return;
  }
  // DaemonSet pods that are expected but not there yet keep their room.
  Amounts expected(columns.size(), 0);
  for (const DaemonPod& daemon : daemons) {
    if (daemon_tolerates(daemon, node.taints) &&
        std::any_of(daemon.alternatives.begin(), daemon.alternatives.end(),
                    [&](const Requirements& wanted) { return node.meets(wanted); })) {
      add_to(expected, columns.amounts(daemon.requests));
    }
  }
  subtract_from(expected, columns.amounts(record.daemon_requests));
  for (auto& amount : expected) {
    amount = std::max<std::int64_t>(amount, 0);
  }
  subtract_from(node.room, expected);
}

void ExistingNodes::take_ports() {
  for (ExistingNode& node : nodes_) {
    for (const auto& pod : node.record->pods) {
      node.ports.add(HostPorts(pod->spec));
    }
  }
}

void ExistingNodes::take_volumes(const Snapshot& cluster, std::span<const PoolTemplate> pools) {
  const Volumes volumes(&cluster);
  std::map<std::string_view, const model::CSINode*> by_name;
  for (const auto& csi_node : cluster.csi_nodes) {
    by_name.emplace(csi_node->meta.name, csi_node.get());
  }
  for (ExistingNode& node : nodes_) {
    if (const auto found = by_name.find(node.record->name()); found != by_name.end()) {
      node.volumes.set_limits(*found->second);
    }
    if (!node.record->initialized()) {
      expect_limits(node, pools);
    }
    for (const auto& pod : node.record->pods) {
      if (has_claims(pod->spec)) {
        node.volumes.add(volumes.attached(*pod));
      }
    }
  }
}

// The drivers of a node that is starting have said nothing yet; it will be as others of its type.
void ExistingNodes::expect_limits(ExistingNode& node, std::span<const PoolTemplate> pools) const {
  const PoolTemplate* found = template_of(*node.record, pools);
  if (found == nullptr) {
    return;
  }
  const PoolTemplate& pool = *found;
  RowSet rows(pool.table->size());
  if (node.unlaunched) {
    rows = launch_options(*node.record->claim, *pool.table);
  } else if (const auto type = node.record->labels().find(model::kInstanceTypeLabel);
             type != node.record->labels().end()) {
    for (std::size_t row = 0; row < pool.table->size(); ++row) {
      if (pool.table->row(row).type->name == type->second) {
        rows.insert(row);
      }
    }
  }
  for (const VolumeColumn& volumes : pods_.volume_columns) {
    std::int64_t least = kAnyVolumes;
    rows.for_each(
        [&](std::size_t row) { least = std::min(least, pool.room.room(row)[volumes.column]); });
    if (least < kAnyVolumes) {
      node.volumes.expect_limit(volumes.driver, static_cast<std::size_t>(least / kOneVolume));
    }
  }
}

void ExistingNodes::apply_kept_room(const Problem& problem) {
  if (problem.kept.empty()) {
    return;
  }
  std::map<std::string_view, NodeId> by_name;
  for (NodeId node; node < nodes_.end_id(); ++node) {
    by_name.emplace(nodes_[node].record->name(), node);
    if (const auto& claim = nodes_[node].record->claim_name(); !claim.empty()) {
      by_name.emplace(claim, node);
    }
  }
  std::unordered_map<std::string_view, PodId> to_place;
  to_place.reserve(pods_.pods.size());
  for (PodId pod; pod < pods_.pods.end_id(); ++pod) {
    to_place.emplace(pods_.pods[pod].pod->meta.uid, pod);
  }
  for (const KeptRoom& kept : problem.kept) {
    const auto target = by_name.find(kept.target);
    if (target == by_name.end()) {
      continue;
    }
    if (const auto pod = to_place.find(kept.pod_uid); pod != to_place.end()) {
      promises_.emplace_back(pod->second, target->second);
      continue;
    }
    ExistingNode& node = nodes_[target->second];
    node.promised = true;
    subtract_from(node.room, pods_.columns.amounts(kept.requests));
    node.volumes.keep(kept.volumes);
    if (kept.sample) {
      node.ports.add(HostPorts(kept.sample->spec));
    }
  }
  std::sort(promises_.begin(), promises_.end());
}

}  // namespace millwright::scheduling
