// Nodes that registered and do not become initialised: nobody takes a startup taint off, or a
// device plugin does not start. Karpenter counts on such a node for ever, and its pods wait as
// long.
//
// Here a plan gives such a node up after a while (the registration timeout, from its registration),
// and its pods are bought for again. The time doubles with each further such node of the pool. So
// one bad machine is replaced soon, and a pool on which no node comes up buys ever more seldom. A
// node that is initialised after all counts again. And no room is kept on a node for longer than
// that time: its pods may use what is free elsewhere.
//
// A node that was up and is not Ready any more is given up sooner, and counts again once it is.
// Karpenter buys at once; a kubelet or a container runtime that is started again needs no machine.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace millwright::scheduling {

class StuckNodes {
 public:
  StuckNodes(const Snapshot& snapshot, base::TimePoint now, base::Duration patience)
      : now_(now), patience_(patience) {
    for (const auto& record : snapshot.nodes) {
      const auto since = waiting_since(*record);
      if (since && now_ - *since >= patience_) {
        ++by_pool_[record->node_pool()];
      }
    }
  }

  // When nothing more is planned onto the node; nullopt: it is up or has not registered.
  std::optional<base::TimePoint> given_up_at(const NodeRecord& record) const {
    if (const auto* unready = record.lost_readiness()) {
      const auto& when = unready->last_transition_time;
      return std::min(when.value_or(now_), now_) + kUnreadyPatience;
    }
    const auto since = waiting_since(record);
    if (!since) {
      return std::nullopt;
    }
    const auto found = by_pool_.find(record.node_pool());
    const std::int32_t stuck = found == by_pool_.end() ? 0 : found->second;
    return *since + patience_ * (1 << std::clamp(stuck - 1, 0, kMostDoublings));
  }
  bool is_given_up(const NodeRecord& record) const {
    const auto when = given_up_at(record);
    return when && *when <= now_;
  }

  // How long a node that was up may be not Ready.
  static constexpr base::Duration kUnreadyPatience = std::chrono::minutes(1);

  // Since when the node has been registered without being initialised.
  static std::optional<base::TimePoint> waiting_since(const NodeRecord& record) {
    const auto* registered =
        record.claim == nullptr
            ? nullptr
            : model::find_condition(record.claim->conditions, model::kRegistered);
    if (registered == nullptr || registered->status != model::ConditionStatus::True ||
        record.node == nullptr || record.initialized() || record.marked_for_deletion) {
      return std::nullopt;
    }
    return registered->last_transition_time;
  }

 private:
  static constexpr std::int32_t kMostDoublings = 10;

  base::TimePoint now_;
  base::Duration patience_;
  std::map<std::string_view, std::int32_t> by_pool_;
};

}  // namespace millwright::scheduling
