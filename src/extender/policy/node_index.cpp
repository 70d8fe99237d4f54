#include "extender/policy/node_index.hpp"

#include "millwright/cluster/ledger.hpp"

#include <algorithm>
#include <map>

namespace millwright::extender {
namespace {

NodeFacts facts_of(const scheduling::NodeRecord& record) {
  NodeFacts facts;
  facts.marked = record.marked_for_deletion;
  const model::ResourceList allocatable = record.allocatable();
  facts.cpu_allocatable = model::get(allocatable, model::kCpu).milli();
  facts.cpu_used = model::get(record.pod_requests, model::kCpu).milli();
  facts.memory_allocatable = model::get(allocatable, model::kMemory).milli();
  facts.memory_used = model::get(record.pod_requests, model::kMemory).milli();
  if (record.claim == nullptr) {
    return facts;
  }
  const model::NodeClaim& claim = *record.claim;
  facts.empty = std::all_of(record.pods.begin(), record.pods.end(), [](const auto& pod) {
    return model::is_owned_by_daemonset(*pod) || model::is_mirror(*pod);
  });
  facts.drifted = model::is_true(claim.conditions, model::kDrifted);
  const auto lifetime = claim.expire_after.value();
  if (lifetime && claim.meta.creation_timestamp) {
    facts.lifetime = *lifetime;
    facts.expires = base::sum_of(*claim.meta.creation_timestamp, *lifetime);
  }
  return facts;
}

}  // namespace

// Gathers what changes between two snapshots, shard by shard.
class NodeIndex::Changes {
 public:
  explicit Changes(NodeIndex& index) : index_(index) {}

  void remove(const scheduling::NodeRecordPtr& record) {
    const std::uint64_t hash = cluster::Ledger::node_hash(record->name());
    Shard& shard = writable(hash);
    const auto at =
        std::find_if(shard.nodes.begin(), shard.nodes.end(),
                     [&record](const IndexedNode& node) { return node.record == record; });
    if (at->facts.marked) {
      index_.marked_.erase(std::find(index_.marked_.begin(), index_.marked_.end(), hash));
    }
    shard.hashes.erase(shard.hashes.begin() + (at - shard.nodes.begin()));
    shard.nodes.erase(at);
  }
  void add(const scheduling::NodeRecordPtr& record) {
    const std::uint64_t hash = cluster::Ledger::node_hash(record->name());
    Shard& shard = writable(hash);
    shard.hashes.push_back(hash);
    shard.nodes.push_back({record->name(), record->node != nullptr, record, facts_of(*record)});
    if (record->marked_for_deletion) {
      index_.marked_.push_back(hash);
    }
  }
  void apply() {
    for (auto& [number, shard] : shards_) {
      index_.shards_[number] = std::make_shared<const Shard>(std::move(shard));
    }
  }

 private:
  Shard& writable(std::uint64_t hash) {
    const std::size_t number = hash % kShards;
    const auto known = shards_.find(number);
    if (known != shards_.end()) {
      return known->second;
    }
    const auto& shared = index_.shards_[number];
    return shards_.emplace(number, shared == nullptr ? Shard() : *shared).first->second;
  }

  NodeIndex& index_;
  std::map<std::size_t, Shard> shards_;
};

NodeIndex::NodeIndex(scheduling::SnapshotPtr snapshot) : snapshot_(std::move(snapshot)) {
  Changes changes(*this);
  for (const auto& record : snapshot_->nodes) {
    changes.add(record);
  }
  changes.apply();
}

std::shared_ptr<const NodeIndex> NodeIndex::follow(const NodeIndex& previous,
                                                   scheduling::SnapshotPtr next) {
  auto index = std::make_shared<NodeIndex>(previous);
  index->snapshot_ = std::move(next);
  Changes changes(*index);
  const auto& before = previous.snapshot_->nodes;
  const auto& after = index->snapshot_->nodes;
  // Both are sorted by name; records that did not change are the same objects.
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (old != before.end() && now != after.end() && *old == *now) {
      ++old;
      ++now;
    } else if (now == after.end() || (old != before.end() && (*old)->name() <= (*now)->name())) {
      changes.remove(*old++);
    } else {
      changes.add(*now++);
    }
  }
  changes.apply();
  return index;
}

const IndexedNode* NodeIndex::find(std::uint64_t hash, std::string_view name, bool is_node) const {
  const Shard* const shard = shards_[hash % kShards].get();
  const std::size_t size = shard == nullptr ? 0 : shard->hashes.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (shard->hashes[i] == hash && shard->nodes[i].name == name &&
        shard->nodes[i].is_node == is_node) {
      return &shard->nodes[i];
    }
  }
  return nullptr;
}

const IndexedNode* NodeIndex::find_node(std::uint64_t hash, std::string_view name) const {
  return find(hash, name, true);
}

const IndexedNode* NodeIndex::find_target(std::string_view name) const {
  const std::uint64_t hash = cluster::Ledger::node_hash(name);
  const IndexedNode* const node = find(hash, name, true);
  return node != nullptr ? node : find(hash, name, false);
}

}  // namespace millwright::extender
