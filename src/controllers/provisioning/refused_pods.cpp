#include "controllers/provisioning/refused_pods.hpp"

#include "controllers/provisioning/free_room.hpp"
#include "millwright/controllers/services.hpp"
#include "millwright/model/conditions.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace millwright::controllers {
namespace {

bool has_grown(const model::ResourceList& before, const model::ResourceList& now) {
  return std::any_of(now.begin(), now.end(), [&](const auto& entry) {
    return model::get(before, entry.first) < entry.second;
  });
}

// As the extender judges it.
bool keeps_pods_waiting(const scheduling::NodeRecord& target) {
  const bool fails = target.node == nullptr && target.claim != nullptr &&
                     model::is_launch_failing(target.claim->conditions);
  return !target.marked_for_deletion && !target.fenced && !fails;
}

}  // namespace

bool RefusedPods::add(const std::string& uid, Pod pod, base::TimePoint now) {
  const auto [entry, added] = pods_.try_emplace(uid);
  Sleeper& sleeper = entry->second;
  sleeper.number = added ? ++refusals_ : sleeper.number;
  sleeper.pod = std::move(pod);
  sleeper.tried = now;
  sleeper.assumed = false;
  const bool had_its_turn = std::exchange(sleeper.awake, false);
  return added || had_its_turn;
}

void RefusedPods::assume(const std::string& uid, Pod pod, base::TimePoint now) {
  if (pods_.contains(uid)) {
    return;
  }
  add(uid, std::move(pod), now - kLongestSleep + kShortSleep);
  pods_.find(uid)->second.assumed = true;
}

void RefusedPods::not_woken(const model::ObjectKey& pod, base::TimePoint now) {
  const auto found = std::find_if(pods_.begin(), pods_.end(),
                                  [&](const auto& entry) { return entry.second.pod.key == pod; });
  if (found != pods_.end() && std::exchange(found->second.awake, false)) {
    found->second.tried = now - kLongestSleep + kShortSleep;
  }
}

void RefusedPods::wake(std::string_view uid) {
  named_.emplace(uid);
}

void RefusedPods::has_place(std::string_view uid) {
  if (const auto found = pods_.find(uid); found != pods_.end()) {
    found->second.has_place = true;
  }
}

void RefusedPods::keep_pending(const scheduling::Snapshot& snapshot) {
  if (pods_.empty()) {
    return;
  }
  std::set<std::string_view> pending;
  for (const auto& pod : snapshot.pending_pods) {
    pending.insert(pod->meta.uid);
  }
  std::erase_if(pods_, [&](const auto& entry) { return !pending.contains(entry.first); });
}

// What no pod uses there and nobody has reserved; nullopt when the node takes no pods.
std::optional<model::ResourceList> RefusedPods::room_of(const std::string& node,
                                                        const Sight& sight) {
  const auto record = find_node(sight.snapshot, node);
  if (!record || record->marked_for_deletion || record->fenced) {
    return std::nullopt;
  }
  model::ResourceList room = record->allocatable();
  model::subtract_from(room, record->pod_requests);
  if (const auto kept = sight.ledger.by_target.find(node); kept != sight.ledger.by_target.end()) {
    model::subtract_from(room, kept->second.summary().requests);
  }
  return room;
}

// So many pods of the group may go anywhere.
std::int32_t RefusedPods::beyond_reserved(const scheduling::GroupId& group, const Sight& sight) {
  const auto* demand = scheduling::find_demand(sight.snapshot.demand, group);
  std::int32_t left = demand == nullptr ? 0 : demand->needed();
  for (const std::string& target : sight.ledger.targets_of(group)) {
    const auto record = sight.find_target(target);
    if (!record || keeps_pods_waiting(*record)) {
      left -= sight.ledger.find(group, target)->count;
    }
  }
  return std::max(left, 0);
}

void RefusedPods::note_rooms(const Sight& sight) {
  const auto before = std::exchange(rooms_, {});
  for (const auto& [target, list] : sight.ledger.by_target) {
    if (auto room = room_of(target, sight)) {
      rooms_.emplace(target, *std::move(room));
    }
  }
  for (const auto& [node, room] : before) {
    const auto kept = rooms_.find(node);
    const auto now = kept == rooms_.end() ? room_of(node, sight) : std::optional(kept->second);
    if (now && has_grown(room, *now)) {
      open_nodes_[node] = ++openings_;
    }
  }
}

void RefusedPods::note_groups(const Sight& sight) {
  const auto before = std::exchange(beyond_, {});
  for (const auto& [uid, sleeper] : pods_) {
    const scheduling::GroupId& group = sleeper.pod.group;
    const auto [entry, added] = beyond_.try_emplace(group.text(), 0);
    if (!added) {
      continue;
    }
    entry->second = beyond_reserved(group, sight);
    const auto known = before.find(group.text());
    if (known != before.end() && known->second < entry->second) {
      open_groups_[group.text()] = ++openings_;
    }
  }
}

void RefusedPods::wake(Sleeper& sleeper, std::string woken_for, base::TimePoint now) {
  sleeper.awake = true;
  sleeper.woken_for = std::move(woken_for);
  sleeper.tried = now;
  sleeper.had_turn = openings_;
  woken_.push_back(sleeper.pod.key);
}

// An opening closes when nobody is awake for it and nobody is left who might use it.
RefusedPods::Take RefusedPods::while_fits(std::optional<model::ResourceList> room) {
  return [left = std::move(room)](const Pod& pod) mutable {
    if (!left || !has_room_for(pod.requests, *left)) {
      return false;
    }
    model::subtract_from(*left, pod.requests);
    return true;
  };
}

RefusedPods::Take RefusedPods::while_left(const std::string& group, std::int32_t pieces) {
  return [group, left = pieces](const Pod& pod) mutable {
    return pod.group.text() == group && left-- > 0;
  };
}

void RefusedPods::fill(Openings& openings, const std::function<Take(const std::string&)>& room_for,
                       base::TimePoint now) {
  if (openings.empty()) {
    return;
  }
  std::vector<Sleeper*> order;
  for (auto& [uid, sleeper] : pods_) {
    order.push_back(&sleeper);
  }
  std::sort(order.begin(), order.end(), [](const Sleeper* a, const Sleeper* b) {
    return std::tie(b->pod.priority, a->number) < std::tie(a->pod.priority, b->number);
  });
  std::size_t left = kOpeningsAtOnce;
  for (auto opening = openings.begin(); opening != openings.end() && left > 0; --left) {
    const Take take = room_for(opening->first);
    bool in_use = false;
    for (const Sleeper* sleeper : order) {
      if (sleeper->awake && sleeper->woken_for == opening->first) {
        take(sleeper->pod);
        in_use = true;
      }
    }
    for (Sleeper* sleeper : order) {
      if (!sleeper->awake && sleeper->had_turn < opening->second && take(sleeper->pod)) {
        wake(*sleeper, opening->first, now);
        in_use = true;
      }
    }
    opening = in_use ? std::next(opening) : openings.erase(opening);
  }
}

void RefusedPods::wake_long_asleep(base::TimePoint now) {
  if (now - last_sweep_ < std::chrono::seconds(1)) {
    return;
  }
  last_sweep_ = now;
  std::vector<Sleeper*> asleep;
  for (auto& [uid, sleeper] : pods_) {
    if (!sleeper.awake && now - sleeper.tried >= kLongestSleep) {
      asleep.push_back(&sleeper);
    }
  }
  std::sort(asleep.begin(), asleep.end(), [](const Sleeper* a, const Sleeper* b) {
    return std::tie(a->tried, a->number) < std::tie(b->tried, b->number);
  });
  asleep.resize(std::min(asleep.size(), kSleepersPerSecond));
  for (Sleeper* sleeper : asleep) {
    wake(*sleeper, {}, now);
  }
}

void RefusedPods::end_turns(base::TimePoint now) {
  for (auto sleeper = pods_.begin(); sleeper != pods_.end();) {
    const bool over = sleeper->second.awake && now - sleeper->second.tried >= kTurn;
    sleeper->second.awake = sleeper->second.awake && !over;
    sleeper = over && sleeper->second.assumed ? pods_.erase(sleeper) : std::next(sleeper);
  }
}

std::vector<model::ObjectKey> RefusedPods::due(const scheduling::Snapshot& snapshot,
                                               const cluster::LedgerView& ledger,
                                               const FindTarget& find_target, base::TimePoint now) {
  const Sight sight{.snapshot = snapshot, .ledger = ledger, .find_target = find_target};
  if (pods_.empty()) {
    rooms_.clear();
    beyond_.clear();
    open_nodes_.clear();
    open_groups_.clear();
    named_.clear();
    return {};
  }
  end_turns(now);
  note_rooms(sight);
  note_groups(sight);
  for (auto& [uid, sleeper] : pods_) {
    const bool has_place =
        sleeper.has_place && !sleeper.awake && now - sleeper.woken_for_place >= kPause;
    if (has_place) {
      sleeper.has_place = false;
      sleeper.woken_for_place = now;
    }
    if (has_place || named_.contains(uid)) {
      wake(sleeper, {}, now);
    }
  }
  named_.clear();
  const auto room_at = [&sight](const std::string& node) {
    return while_fits(room_of(node, sight));
  };
  fill(open_nodes_, room_at, now);
  const auto pieces_of = [this](const std::string& group) {
    const auto known = beyond_.find(group);
    return while_left(group, known == beyond_.end() ? 0 : known->second);
  };
  fill(open_groups_, pieces_of, now);
  wake_long_asleep(now);
  return std::exchange(woken_, {});
}

}  // namespace millwright::controllers
