#include "cluster/promises.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace millwright::cluster {

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

bool Ledger::Promises::drop(const scheduling::HoldId& id) {
  auto& targets = view.targets(id.kind);
  const auto found = targets.find(id.pod_uid);
  if (found == targets.end()) {
    return false;
  }
  const std::string target = found->second;
  std::vector<scheduling::Hold> holds = holds_of(target).items();
  std::erase_if(holds, [&id](const auto& hold) {
    return hold.kind == id.kind && hold.pod_uid == id.pod_uid;
  });
  set_list(target, std::move(holds));
  targets.erase(id.pod_uid);
  return true;
}

void Ledger::Promises::put(scheduling::Hold hold) {
  const scheduling::Hold* const known = view.find(hold.kind, hold.pod_uid);
  if (known != nullptr && *known == hold) {
    return;
  }
  drop(hold.id());
  std::vector<scheduling::Hold> holds = holds_of(hold.target).items();
  const auto at =
      std::lower_bound(holds.begin(), holds.end(), hold, [](const auto& a, const auto& b) {
        return std::tie(a.kind, a.pod_uid) < std::tie(b.kind, b.pod_uid);
      });
  const std::string target = hold.target;
  view.targets(hold.kind).set(hold.pod_uid, target);
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
  const scheduling::HoldId id = hold.id();
  ended_holds_.forget(id);
  hold_source_.erase(id);
  put(std::move(hold));
}

void Ledger::Promises::end_hold(const scheduling::HoldId& id, base::TimePoint up_to) {
  if (drop(id)) {
    hold_source_.erase(id);
    ended_holds_.note(id, up_to);
  }
}

void Ledger::Promises::adopt_holds(std::string_view source, std::string_view target,
                                   std::vector<scheduling::Hold> holds) {
  std::vector<scheduling::HoldId> ids;
  ids.reserve(holds.size());
  std::transform(holds.begin(), holds.end(), std::back_inserter(ids),
                 [](const auto& hold) { return hold.id(); });
  std::sort(ids.begin(), ids.end());
  const auto said = said_by_.find(source);
  if (said != said_by_.end()) {
    for (const auto& id : said->second) {
      const auto from = hold_source_.find(id);
      if (from != hold_source_.end() && from->second == source &&
          !std::binary_search(ids.begin(), ids.end(), id)) {
        hold_source_.erase(from);
        drop(id);
      }
    }
    said_by_.erase(said);
  }
  for (scheduling::Hold& hold : holds) {
    const scheduling::HoldId id = hold.id();
    const auto* const known = view.find(id);
    const bool ours = known != nullptr && !hold_source_.contains(id) &&
                      known->target_is != scheduling::HoldTarget::PlannedClaim;
    if (ours || ended_holds_.covers(id, hold.deadline)) {
      continue;
    }
    hold.target = target;
    hold_source_.insert_or_assign(id, std::string(source));
    put(std::move(hold));
  }
  if (!ids.empty()) {
    said_by_.insert_or_assign(std::string(source), std::move(ids));
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
  if (ended_fences_.covers(std::string(node), fence->since)) {
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
