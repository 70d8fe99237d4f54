// The part of LivePlan that follows nodes.
#include "scheduling/current_problem.hpp"
#include "scheduling/launch_options.hpp"
#include "scheduling/live_plan.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

bool repels(const PodPtr& pod) {
  return !pod->spec.affinity.required_pod_anti_affinity.empty();
}

// Pods of `some` that `others` has not, or not as they are.
template <class Visit>
bool all_beyond(const std::vector<PodPtr>& some, const std::vector<PodPtr>& others, Visit visit) {
  return std::all_of(some.begin(), some.end(), [&](const PodPtr& pod) {
    return std::find(others.begin(), others.end(), pod) != others.end() || visit(pod);
  });
}

}  // namespace

bool LivePlan::is_limited(const std::string& node_pool) const {
  for (std::uint32_t i = 0; i < compiled_.pools.size(); ++i) {
    if (compiled_.pools[i].name() == node_pool) {
      return packing_->drafts().limits(i).limited();
    }
  }
  return false;
}

// Topology counts and domains stay as they are.
bool LivePlan::nobody_minds(const NodeRecord& before, const NodeRecord& after) {
  const auto nobody_counts = [&](const PodPtr& pod) {
    return !repels(pod) && compiled_.pods.topology->selecting(*pod).empty();
  };
  return before.labels() == after.labels() && before.taints() == after.taints() &&
         before.initialized() == after.initialized() &&
         all_beyond(before.pods, after.pods, nobody_counts) &&
         all_beyond(after.pods, before.pods, nobody_counts);
}

bool LivePlan::changes_in_place(const NodeRecord* before, const NodeRecord* after) {
  const PodClasses& pods = compiled_.pods;
  for (const NodeRecord* node : {before, after}) {
    if (node != nullptr && is_unlaunched(*node)) {
      return false;
    }
  }
  if (pods.volumes.size() > 1) {
    return false;
  }
  if (before == nullptr || after == nullptr || before->node_pool() != after->node_pool() ||
      before->capacity() != after->capacity()) {
    for (const NodeRecord* node : {before, after}) {
      if (node != nullptr && is_limited(node->node_pool())) {
        return false;
      }
    }
  }
  if (after != nullptr && !pods.soft_taints) {
    const auto taints = after->taints();
    if (std::any_of(taints.begin(), taints.end(), is_soft)) {
      return false;
    }
  }
  if (pods.topology) {
    return before != nullptr && after != nullptr && nobody_minds(*before, *after);
  }
  return after == nullptr || std::none_of(after->pods.begin(), after->pods.end(), repels);
}

std::vector<const Hold*> LivePlan::holds_on(const NodeRecord& node) const {
  std::vector<const Hold*> holds;
  const auto take = [&](std::string_view target) {
    const auto [first, last] = holds_by_target_.equal_range(target);
    for (auto hold = first; hold != last; ++hold) {
      // That of a pod to be placed is a promise, and was kept if it could be.
      if (!pods_by_uid_.contains(hold->second->pod_uid)) {
        holds.push_back(hold->second);
      }
    }
  };
  take(node.name());
  if (!node.claim_name().empty() && node.claim_name() != node.name()) {
    take(node.claim_name());
  }
  return holds;
}

void LivePlan::note_room(std::uint32_t node) {
  room_before_.try_emplace(node, packing_->room(node));
}

bool LivePlan::move_displaced(std::uint32_t node) {
  const auto displaced = packing_->refresh_node(node);
  const bool may_move = std::all_of(displaced.begin(), displaced.end(), [&](std::uint32_t pod) {
    return !constraint_at(pod).has_topology();
  });
  return may_move && settle(displaced);
}

bool LivePlan::set_node(const NodeRecordPtr& before, const NodeRecordPtr& node) {
  kept_nodes_.push_back(node);
  if (!changes_in_place(before.get(), node.get())) {
    return false;
  }
  const auto known = nodes_by_name_.find(node->name());
  if (known == nodes_by_name_.end()) {
    if (!takes_pods(*node)) {
      return true;
    }
    if (compiled_.pods.topology) {
      return false;  // its domains were not looked up
    }
    const auto index = static_cast<std::uint32_t>(compiled_.nodes.nodes().size());
    compiled_.nodes.append(node, compiled_.daemons, holds_on(*node));
    nodes_by_name_.emplace(node->name(), index);
    room_before_.try_emplace(index, Amounts(compiled_.pods.columns.size(), 0));
    packing_->grow();
    return move_displaced(index);
  }
  note_room(known->second);
  if (takes_pods(*node)) {
    const ExistingNode& now = compiled_.nodes.nodes()[known->second];
    const auto taints = now.taints;
    compiled_.nodes.replace(known->second, node, compiled_.daemons, holds_on(*node));
    if (taints != now.taints || before->labels() != node->labels()) {
      // All its room may be news to some.
      room_before_[known->second].assign(compiled_.pods.columns.size(), 0);
    }
  } else {
    compiled_.nodes.close(known->second);
  }
  return move_displaced(known->second);
}

bool LivePlan::remove_node(const NodeRecordPtr& node) {
  if (!changes_in_place(node.get(), nullptr)) {
    return false;
  }
  const auto known = nodes_by_name_.find(node->name());
  if (known == nodes_by_name_.end()) {
    return true;
  }
  note_room(known->second);
  compiled_.nodes.close(known->second);
  return move_displaced(known->second);
}

}  // namespace millwright::scheduling
