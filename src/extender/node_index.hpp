// The snapshot's nodes by name, with the few numbers that scoring needs. An index follows the
// snapshots: the next one shares every part in which no record changed, so that following costs a
// walk over pointers, not over nodes. Immutable; any thread.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace millwright::extender {

struct NodeFacts {
  bool marked = false;   // for deletion
  bool empty = false;    // one of ours that runs nothing but DaemonSet pods
  bool drifted = false;  // its NodeClaim no longer matches its pool
  std::optional<base::TimePoint> expires;
  base::Duration lifetime{};
  std::int64_t cpu_allocatable = 0;  // thousandths
  std::int64_t cpu_used = 0;
  std::int64_t memory_allocatable = 0;
  std::int64_t memory_used = 0;
};

struct IndexedNode {
  std::size_t hash = 0;
  scheduling::NodeRecordPtr record;  // never nullptr
  NodeFacts facts;
};

class NodeIndex {
 public:
  explicit NodeIndex(scheduling::SnapshotPtr snapshot);
  // The index of `next`, sharing what it can with `previous`.
  static std::shared_ptr<const NodeIndex> follow(const NodeIndex& previous,
                                                 scheduling::SnapshotPtr next);

  const scheduling::SnapshotPtr& snapshot() const { return snapshot_; }
  // nullptr when the snapshot has no Node of that name. Claims in flight are not Nodes.
  const IndexedNode* find(std::string_view name) const;
  bool any_marked() const { return marked_ > 0; }

 private:
  using Shard = std::vector<IndexedNode>;
  static constexpr std::size_t kShards = 1024;
  class Changes;

  scheduling::SnapshotPtr snapshot_;
  std::array<std::shared_ptr<const Shard>, kShards> shards_;
  std::size_t marked_ = 0;
};

}  // namespace millwright::extender
