#include "cluster/promises.hpp"

#include <algorithm>
#include <utility>

namespace millwright::cluster {

void Ended::note(std::string_view key, base::TimePoint up_to) {
  up_to_.insert_or_assign(std::string(key), up_to);
  order_.emplace_back(key);
  if (order_.size() > Ledger::kEndedRemembered) {
    up_to_.erase(order_.front());
    order_.pop_front();
  }
}

void Ended::forget(std::string_view key) {
  const auto found = up_to_.find(key);
  if (found != up_to_.end()) {
    up_to_.erase(found);
  }
}

bool Ended::covers(std::string_view key, base::TimePoint stamp) const {
  const auto found = up_to_.find(key);
  return found != up_to_.end() && stamp <= found->second;
}

HoldList Ledger::Promises::holds_of(std::string_view target) const {
  const auto found = view.holds_by_target.find(target);
  return found == view.holds_by_target.end() ? HoldList() : found->second;
}

void Ledger::Promises::set_list(std::string_view target, std::vector<scheduling::Hold> holds) {
  if (holds.empty()) {
    view.holds_by_target.erase(target);
  } else {
    view.holds_by_target.set(target, HoldList(std::move(holds)));
  }
  ++view.generation;
}

bool Ledger::Promises::drop(std::string_view pod_uid) {
  const auto found = view.target_by_pod_uid.find(pod_uid);
  if (found == view.target_by_pod_uid.end()) {
    return false;
  }
  const std::string target = found->second;
  std::vector<scheduling::Hold> holds = holds_of(target).items();
  std::erase_if(holds, [pod_uid](const auto& hold) { return hold.pod_uid == pod_uid; });
  set_list(target, std::move(holds));
  view.target_by_pod_uid.erase(pod_uid);
  return true;
}

void Ledger::Promises::put(scheduling::Hold hold) {
  const scheduling::Hold* const known = view.hold_of(hold.pod_uid);
  if (known != nullptr && *known == hold) {
    return;
  }
  drop(hold.pod_uid);
  std::vector<scheduling::Hold> holds = holds_of(hold.target).items();
  const auto at =
      std::lower_bound(holds.begin(), holds.end(), hold,
                       [](const auto& a, const auto& b) { return a.pod_uid < b.pod_uid; });
  const std::string target = hold.target;
  view.target_by_pod_uid.set(hold.pod_uid, target);
  holds.insert(at, std::move(hold));
  set_list(target, std::move(holds));
}

void Ledger::Promises::set_deadline(std::string_view target, base::TimePoint deadline) {
  std::vector<scheduling::Hold> holds = holds_of(target).items();
  const auto stale = [deadline](const auto& hold) { return hold.deadline != deadline; };
  if (std::none_of(holds.begin(), holds.end(), stale)) {
    return;
  }
  for (scheduling::Hold& hold : holds) {
    hold.deadline = deadline;
  }
  set_list(target, std::move(holds));
}

void Ledger::Promises::decide_hold(scheduling::Hold hold) {
  ended_holds_.forget(hold.pod_uid);
  hold_source_.erase(hold.pod_uid);
  put(std::move(hold));
}

void Ledger::Promises::end_hold(std::string_view pod_uid, base::TimePoint up_to) {
  const std::string uid(pod_uid);  // the argument may live in the list that changes
  if (drop(uid)) {
    hold_source_.erase(uid);
    ended_holds_.note(uid, up_to);
  }
}

void Ledger::Promises::adopt_holds(std::string_view source, std::string_view target,
                                   std::vector<scheduling::Hold> holds) {
  std::vector<std::string> uids;
  uids.reserve(holds.size());
  std::transform(holds.begin(), holds.end(), std::back_inserter(uids),
                 [](const auto& hold) { return hold.pod_uid; });
  std::sort(uids.begin(), uids.end());
  const auto said = said_by_.find(source);
  if (said != said_by_.end()) {
    for (const std::string& uid : said->second) {
      const auto from = hold_source_.find(uid);
      if (from != hold_source_.end() && from->second == source &&
          !std::binary_search(uids.begin(), uids.end(), uid)) {
        hold_source_.erase(from);
        drop(uid);
      }
    }
    said_by_.erase(said);
  }
  for (scheduling::Hold& hold : holds) {
    const auto* const known = view.hold_of(hold.pod_uid);
    const bool ours = known != nullptr && !hold_source_.contains(hold.pod_uid) &&
                      !known->target.starts_with(kPlannedTarget);
    if (ours || ended_holds_.covers(hold.pod_uid, hold.deadline)) {
      continue;
    }
    hold.target = target;
    hold_source_.insert_or_assign(hold.pod_uid, std::string(source));
    put(std::move(hold));
  }
  if (!uids.empty()) {
    said_by_.insert_or_assign(std::string(source), std::move(uids));
  }
}

void Ledger::Promises::decide_fence(Fence fence) {
  ended_fences_.forget(fence.node);
  fence_source_.erase(fence.node);
  const auto known = view.fences_by_node.find(fence.node);
  if (known != view.fences_by_node.end() && known->second == fence) {
    return;
  }
  const std::string node = fence.node;
  view.fences_by_node.set(node, std::move(fence));
  ++view.generation;
}

void Ledger::Promises::end_fence(std::string_view node) {
  const auto known = view.fences_by_node.find(node);
  if (known == view.fences_by_node.end()) {
    return;
  }
  const std::string name(node);
  ended_fences_.note(name, known->second.since);
  fence_source_.erase(name);
  view.fences_by_node.erase(name);
  ++view.generation;
}

void Ledger::Promises::adopt_fence(std::string_view source, std::string_view node,
                                   std::optional<Fence> fence) {
  const auto known = view.fences_by_node.find(node);
  const auto from = fence_source_.find(node);
  if (known != view.fences_by_node.end() && from == fence_source_.end()) {
    return;  // ours
  }
  if (!fence) {
    if (from != fence_source_.end() && from->second == source) {
      fence_source_.erase(from);
      view.fences_by_node.erase(node);
      ++view.generation;
    }
    return;
  }
  if (ended_fences_.covers(node, fence->since)) {
    return;
  }
  fence_source_.insert_or_assign(std::string(node), std::string(source));
  fence->node = node;
  if (known == view.fences_by_node.end() || known->second != *fence) {
    view.fences_by_node.set(node, *std::move(fence));
    ++view.generation;
  }
}

}  // namespace millwright::cluster
