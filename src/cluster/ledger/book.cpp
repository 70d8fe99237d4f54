#include "cluster/ledger/book.hpp"

#include <algorithm>
#include <utility>

namespace millwright::cluster {

using scheduling::GroupId;
using scheduling::Reservation;

void EndedFences::note(const std::string& node, base::TimePoint since) {
  since_.insert_or_assign(node, since);
  order_.push_back(node);
  if (order_.size() > Ledger::kEndedRemembered) {
    since_.erase(order_.front());
    order_.pop_front();
  }
}

bool EndedFences::covers(const std::string& node, base::TimePoint since) const {
  const auto found = since_.find(node);
  return found != since_.end() && since <= found->second;
}

ReservationList Ledger::Book::on(std::string_view target) const {
  const auto found = view.by_target.find(target);
  return found == view.by_target.end() ? ReservationList() : found->second;
}

void Ledger::Book::link(const GroupId& group, std::string_view target) {
  std::vector<std::string> targets = view.targets_of(group);
  const auto at = std::lower_bound(targets.begin(), targets.end(), target);
  if (at == targets.end() || *at != target) {
    targets.emplace(at, target);
    view.targets_by_group.set(group.text(), std::move(targets));
  }
}

void Ledger::Book::unlink(const GroupId& group, std::string_view target) {
  std::vector<std::string> targets = view.targets_of(group);
  std::erase(targets, target);
  if (targets.empty()) {
    view.targets_by_group.erase(group.text());
  } else {
    view.targets_by_group.set(group.text(), std::move(targets));
  }
}

void Ledger::Book::set_list(std::string_view target, std::vector<Reservation> reservations) {
  const ReservationList before = on(target);
  if (before.items() == reservations) {
    return;
  }
  const ReservationList now(std::move(reservations));
  for (const Reservation& reservation : before) {
    if (now.find(reservation.group) == nullptr) {
      unlink(reservation.group, target);
    }
  }
  for (const Reservation& reservation : now) {
    if (before.find(reservation.group) == nullptr) {
      link(reservation.group, target);
    }
  }
  if (now.empty()) {
    view.by_target.erase(target);
  } else {
    view.by_target.set(target, now);
  }
  ++view.generation;
}

namespace {

auto place_of(std::vector<Reservation>& list, const GroupId& group) {
  return std::partition_point(list.begin(), list.end(), [&](const Reservation& reservation) {
    return reservation.group < group;
  });
}

// What both say, as one.
Reservation joined(const Reservation& older, Reservation newer) {
  newer.count += older.count;
  newer.of_buffer = newer.of_buffer || older.of_buffer;
  newer.inherited = newer.inherited || older.inherited;
  return newer;
}

void add_to_list(std::vector<Reservation>& list, Reservation reservation) {
  const auto at = place_of(list, reservation.group);
  if (at != list.end() && at->group == reservation.group) {
    *at = joined(*at, std::move(reservation));
  } else {
    list.insert(at, std::move(reservation));
  }
}

}  // namespace

void Ledger::Book::add(Reservation reservation) {
  if (reservation.count <= 0) {
    return;
  }
  const std::string target = reservation.target;
  decided_.insert(target);
  std::vector<Reservation> list = on(target).items();
  add_to_list(list, std::move(reservation));
  set_list(target, std::move(list));
}

void Ledger::Book::set(Reservation reservation) {
  const std::string target = reservation.target;
  decided_.insert(target);
  std::vector<Reservation> list = on(target).items();
  std::erase_if(list, [&](const Reservation& each) { return each.group == reservation.group; });
  if (reservation.count > 0) {
    list.insert(place_of(list, reservation.group), std::move(reservation));
  }
  set_list(target, std::move(list));
}

void Ledger::Book::lower(const GroupId& group, std::string_view target, std::int32_t by) {
  std::vector<Reservation> list = on(target).items();
  const auto at = place_of(list, group);
  if (by <= 0 || at == list.end() || at->group != group) {
    return;
  }
  at->count -= by;
  if (at->count <= 0) {
    list.erase(at);
  }
  set_list(target, std::move(list));
}

void Ledger::Book::use_one(const GroupId& group, std::string_view node) {
  if (view.find(group, node) != nullptr) {
    lower(group, node, 1);
  } else {
    lower(GroupId::of_owner(group.owner_uid()), node, 1);
  }
}

void Ledger::Book::release(std::string_view target) {
  set_list(std::string(target), {});
}

void Ledger::Book::rename(std::string_view from, std::string_view to) {
  if (from == to) {
    return;
  }
  if (const auto decided = decided_.find(from); decided != decided_.end()) {
    decided_.erase(decided);
    decided_.emplace(to);
  }
  if (on(from).empty()) {
    return;
  }
  std::vector<Reservation> moved = on(from).items();
  std::vector<Reservation> list = on(to).items();
  for (Reservation& reservation : moved) {
    reservation.target = to;
    add_to_list(list, std::move(reservation));
  }
  set_list(std::string(from), {});
  set_list(std::string(to), std::move(list));
}

void Ledger::Book::set_end(std::string_view target, base::TimePoint end) {
  std::vector<Reservation> list = on(target).items();
  for (Reservation& reservation : list) {
    reservation.until = reservation.of_buffer ? reservation.until : end;
  }
  set_list(std::string(target), std::move(list));
}

void Ledger::Book::adopt(std::string_view target, std::vector<Reservation> reservations) {
  if (decided_.contains(target)) {
    return;
  }
  std::vector<Reservation> list;
  std::erase_if(reservations, [](const Reservation& each) { return each.count <= 0; });
  for (Reservation& reservation : reservations) {
    reservation.target = target;
    add_to_list(list, std::move(reservation));
  }
  if (!list.empty()) {
    decided_.emplace(target);  // what is used from now on, no mirror knows
  }
  set_list(std::string(target), std::move(list));
}

void Ledger::Book::forget(std::string_view target) {
  release(target);
  if (const auto decided = decided_.find(target); decided != decided_.end()) {
    decided_.erase(decided);
  }
}

void Ledger::Book::decide_fence(Fence fence) {
  ended_fences_.forget(fence.node);
  fence_claim_.erase(fence.node);
  const auto known = view.fences_by_node.find(fence.node);
  if (known != view.fences_by_node.end() && known->second == fence) {
    return;
  }
  const std::string node = fence.node;
  view.fences_by_node.set(node, std::move(fence));
  ++view.generation;
}

void Ledger::Book::end_fence(std::string_view node) {
  const auto known = view.fences_by_node.find(node);
  if (known == view.fences_by_node.end()) {
    return;
  }
  const std::string name(node);
  ended_fences_.note(name, known->second.since);
  fence_claim_.erase(name);
  view.fences_by_node.erase(name);
  ++view.generation;
}

void Ledger::Book::adopt_fence(std::string_view claim, std::string_view node,
                               std::optional<Fence> fence) {
  const auto known = view.fences_by_node.find(node);
  const auto from = fence_claim_.find(node);
  if (known != view.fences_by_node.end() && from == fence_claim_.end()) {
    return;  // ours
  }
  if (!fence) {
    if (from != fence_claim_.end() && from->second == claim) {
      fence_claim_.erase(from);
      view.fences_by_node.erase(node);
      ++view.generation;
    }
    return;
  }
  if (ended_fences_.covers(std::string(node), fence->since)) {
    return;
  }
  fence_claim_.insert_or_assign(std::string(node), std::string(claim));
  fence->node = node;
  if (known == view.fences_by_node.end() || known->second != *fence) {
    view.fences_by_node.set(node, *std::move(fence));
    ++view.generation;
  }
}

}  // namespace millwright::cluster
