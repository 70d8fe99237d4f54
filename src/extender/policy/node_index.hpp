// The snapshot's nodes by name, with the few numbers that scoring needs. The index of
// the next snapshot shares every part in which no record changed, so that making it compares
// pointers instead of copying nodes. Immutable; any thread.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
  std::string name;
  bool is_node = false;              // else a claim in flight
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
  // `hash` is Ledger::node_hash(name). nullptr when the snapshot has no Node of that name.
  const IndexedNode* find_node(std::uint64_t hash, std::string_view name) const;
  // The Node of that name, else the claim in flight.
  const IndexedNode* find_target(std::string_view name) const;
  // Hashes of the names of the nodes marked for deletion.
  const std::vector<std::uint64_t>& marked() const { return marked_; }

 private:
  struct Shard {
    std::vector<std::uint64_t> hashes;  // of `nodes`, one by one
    std::vector<IndexedNode> nodes;
  };
  static constexpr std::size_t kShards = 1024;
  class Changes;

  const IndexedNode* find(std::uint64_t hash, std::string_view name, bool is_node) const;

  scheduling::SnapshotPtr snapshot_;
  std::array<std::shared_ptr<const Shard>, kShards> shards_;
  std::vector<std::uint64_t> marked_;
};

}  // namespace millwright::extender
