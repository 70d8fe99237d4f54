#include "extender/node_index.hpp"

#include <algorithm>
#include <functional>
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
    facts.expires = *claim.meta.creation_timestamp + *lifetime;
  }
  return facts;
}

std::size_t hash_of(std::string_view name) {
  return std::hash<std::string_view>{}(name);
}

}  // namespace

// Gathers what changes between two snapshots, shard by shard.
class NodeIndex::Changes {
 public:
  explicit Changes(NodeIndex& index) : index_(index) {}

  void remove(const scheduling::NodeRecordPtr& record) {
    if (record->node == nullptr) {
      return;
    }
    Shard& shard = writable(hash_of(record->node->meta.name));
    const auto at = std::find_if(shard.begin(), shard.end(),
                                 [&](const auto& entry) { return entry.record == record; });
    index_.marked_ -= at->facts.marked ? 1 : 0;
    shard.erase(at);
  }
  void add(const scheduling::NodeRecordPtr& record) {
    if (record->node == nullptr) {
      return;
    }
    const std::size_t hash = hash_of(record->node->meta.name);
    Shard& shard = writable(hash);
    shard.push_back({hash, record, facts_of(*record)});
    index_.marked_ += shard.back().facts.marked ? 1 : 0;
  }
  void apply() {
    for (auto& [number, shard] : shards_) {
      index_.shards_[number] = std::make_shared<const Shard>(std::move(shard));
    }
  }

 private:
  Shard& writable(std::size_t hash) {
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

const IndexedNode* NodeIndex::find(std::string_view name) const {
  const std::size_t hash = hash_of(name);
  const auto& shard = shards_[hash % kShards];
  if (shard == nullptr) {
    return nullptr;
  }
  const auto at = std::find_if(shard->begin(), shard->end(), [&](const IndexedNode& entry) {
    return entry.hash == hash && entry.record->node->meta.name == name;
  });
  return at == shard->end() ? nullptr : &*at;
}

}  // namespace millwright::extender
