// Scheduling attempts that the extender let through and that may still end in a binding, and what
// they mean to the next pod that asks.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::cluster {

// One attempt.
struct Pass {
  std::string pod_uid;
  scheduling::GroupId group;
  base::TimePoint at;
  base::TimePoint until;  // no binding can come of it later
  model::ResourceList requests;
  bool everywhere = false;                 // not known yet, or no longer, on which nodes
  bool unanswered = false;                 // it has only begun
  bool beyond_reserved = false;            // its group needed more than was reserved for it then
  std::vector<std::uint64_t> node_hashes;  // sorted; see Ledger::node_hash()
  std::string pod_version;                 // the resourceVersion of the pod that was asked about
  // Set while no snapshot has shown the pod waiting: group and requests are only what the caller
  // said.
  struct Unseen {
    model::ObjectKey pod;
    base::TimePoint until;  // takes the place of Pass::until once the pod is seen
  };
  std::optional<Unseen> unseen = std::nullopt;
  bool may_land_on(std::uint64_t node_hash) const;
  // The pod has changed since it was asked about; false also when that is not known.
  bool is_before(const model::Pod& pod) const;
};
using PassPtr = std::shared_ptr<const Pass>;

// How many of some passes may land on each node. Nodes are numbered: Traffic::number_of().
class Crowd {
 public:
  std::int32_t on(std::uint32_t node) const { return everywhere_ + naming(node); }
  // Without those that may land everywhere.
  std::int32_t naming(std::uint32_t node) const {
    return node < on_node_.size() ? on_node_[node] : 0;
  }
  bool empty() const { return passes_ == 0; }
  std::size_t counters() const { return on_node_.size(); }
  void add(const Pass& pass, const std::vector<std::uint32_t>& nodes);
  // One that was added, with the same nodes.
  void remove(const Pass& pass, const std::vector<std::uint32_t>& nodes);

 private:
  // Ledger::kDetailedPasses is the most that name their nodes.
  std::vector<std::uint16_t> on_node_;
  std::int32_t everywhere_ = 0;
  std::int32_t passes_ = 0;
};

class Attempts;

// The passes in flight. While one of these is held no attempt begins or ends: hold it for one
// answer, and take no State::sight() meanwhile.
class Traffic {
 public:
  Traffic(const Attempts& attempts, std::unique_lock<std::mutex> lock)
      : attempts_(&attempts), lock_(std::move(lock)) {}

  // See Ledger::settled().
  std::uint64_t settled() const;
  // nullptr when it has none.
  PassPtr of_pod(std::string_view uid) const;
  // In no order.
  const std::set<PassPtr>& of_group(const scheduling::GroupId& group) const;
  // The groups of the controller that have any, sorted.
  std::vector<scheduling::GroupId> groups_of_owner(std::string_view owner_uid) const;

  std::uint32_t number_of(std::uint64_t node_hash) const;
  // Of one group; nullptr when it has none.
  const Crowd* crowd_of(const scheduling::GroupId& group) const;
  // Of all groups, by what one pod requests.
  const std::map<model::ResourceList, Crowd>& crowds() const;

 private:
  const Attempts* attempts_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace millwright::cluster
