#include "millwright/controllers/provisioning/reservations.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kLook = std::chrono::seconds(1);
// How long a drain may take until what is reserved for its pods is given to others.
constexpr auto kLongestDrain = std::chrono::minutes(30);

}  // namespace

std::vector<scheduling::Reservation> reservations_for(const std::vector<scheduling::PodPtr>& pods,
                                                      const std::string& target,
                                                      base::TimePoint until) {
  std::map<scheduling::GroupId, scheduling::Reservation> by_group;
  for (const auto& pod : pods) {
    if (!pod->spec.node_name.empty() && !scheduling::has_successor(*pod)) {
      continue;
    }
    auto group = scheduling::group_of(*pod);
    auto& reservation = by_group[group];
    if (reservation.count++ == 0) {
      reservation.group = std::move(group);
      reservation.target = target;
      reservation.sample = model::key_of(pod->meta);
      reservation.requests = scheduling::effective_requests(*pod);
      reservation.priority = pod->spec.priority;
      reservation.until = until;
    }
  }
  std::vector<scheduling::Reservation> reservations;
  reservations.reserve(by_group.size());
  for (auto& [group, reservation] : by_group) {
    reservations.push_back(std::move(reservation));
  }
  return reservations;
}

Reservations::Reservations(Services& services) : services_(services), signal_(services.loop) {}

void Reservations::refused(std::string pod_uid, model::ObjectKey pod, scheduling::GroupId group,
                           std::vector<std::string> not_offered) {
  const auto [entry, added] = refused_.try_emplace(pod_uid);
  Refused& refused = entry->second;
  refused.pod = std::move(pod);
  refused.woken_for_room = false;
  if (added) {
    signal_.notify();  // notes what is reserved now: it was refused because of that
  }
  if (not_offered.empty()) {
    return;
  }
  if (!std::exchange(refused.asked_again, true)) {
    // kube-scheduler may not have seen yet that the node is up.
    ask_again_.emplace_back(services_.loop.now() + kLook, std::move(pod_uid));
    return;
  }
  refused.asked_again = false;
  std::int32_t freed = 0;
  const auto view = services_.ledger.view();
  for (const auto& target : not_offered) {
    if (const auto* reservation = view->find(group, target)) {
      freed += reservation->count;
      services_.ledger.lower(group, target, reservation->count);
    }
  }
  if (freed > 0) {
    to_wake_.push_back(std::move(pod_uid));
    tell_void(freed, "kube-scheduler does not offer the node to the pods");
    signal_.notify();
  }
}

void Reservations::has_room(std::string_view pod_uid) {
  const auto found = refused_.find(pod_uid);
  if (found != refused_.end() && !std::exchange(found->second.woken_for_room, true)) {
    to_wake_.emplace_back(pod_uid);
    signal_.notify();
  }
}

void Reservations::tell_void(std::int32_t pods, const char* why) {
  services_.log.info("reservations ended without their pods",
                     {{"pods", std::to_string(pods)}, {"reason", why}});
  services_.metrics.count("millwright_reservations_void_total",
                          "Pods whose reserved room ended before they were bound.",
                          {{"reason", why}}, static_cast<double>(pods));
  if (on_void_) {
    on_void_();
  }
}

// Other pods took the room, DaemonSets' for example, or the node came out smaller than promised, or
// is going.
void Reservations::void_what_lacks_room(const scheduling::Snapshot& snapshot) {
  const auto view = services_.ledger.view();
  std::int32_t freed = 0;
  for (const auto& [target, list] : view->by_target) {
    const auto record = find_node(snapshot, target);
    if (!record || !record->initialized() || list.empty()) {
      continue;
    }
    model::ResourceList room;
    if (!record->marked_for_deletion) {
      room = record->allocatable();
      model::subtract_from(room, record->pod_requests);
    }
    // A buffer comes after the pods that wait.
    auto reservations = list.items();
    std::stable_sort(reservations.begin(), reservations.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.of_buffer, b.priority) < std::tuple(b.of_buffer, a.priority);
    });
    for (const auto& reservation : reservations) {
      std::int32_t kept = 0;
      for (; kept < reservation.count && model::fits(reservation.requests, room); ++kept) {
        model::subtract_from(room, reservation.requests);
      }
      services_.ledger.lower(reservation.group, target, reservation.count - kept);
      // Nobody waits for what a buffer lacks; the next plan makes room for it.
      freed += reservation.of_buffer ? 0 : reservation.count - kept;
    }
  }
  if (freed > 0) {
    tell_void(freed, "the node lacks the room");
  }
}

// What is reserved for pods that have not left their old node yet has all the time that takes.
void Reservations::end_expired(const scheduling::Snapshot& snapshot) {
  const base::TimePoint now = services_.loop.now();
  // Early enough that nobody finds them ended meanwhile.
  const base::TimePoint soon = now + services_.options.reserve_after_ready / 2;
  auto overdue = std::exchange(overdue_, {});
  for (const auto& reservation : snapshot.reservations) {
    const std::pair key(reservation.target, reservation.group);
    const auto known = overdue.find(key);
    const base::TimePoint since = known == overdue.end() ? reservation.until : known->second;
    const auto* demand = since > soon || now - since > kLongestDrain
                             ? nullptr
                             : scheduling::find_demand(snapshot.demand, reservation.group);
    if (demand == nullptr || (demand->leaving.empty() && demand->later == 0)) {
      continue;
    }
    overdue_.emplace(key, since);
    if (reservation.until <= soon) {
      auto extended = reservation;
      extended.until = now + services_.options.reserve_after_ready;
      services_.ledger.set_reservation(std::move(extended));
    }
  }
  std::int32_t ended = 0;
  for (const auto& reservation : services_.ledger.expire(now)) {
    ended += reservation.count;
  }
  if (ended > 0) {
    tell_void(ended, "their time is over");
  }
}

// Whether reservations ended since the last look without pods on the node that kept the room.
bool Reservations::room_came_free(const scheduling::Snapshot& snapshot) {
  std::map<std::string, Kept, std::less<>> now;
  if (!refused_.empty()) {
    for (const auto& reservation : snapshot.reservations) {
      now[reservation.target].count += reservation.count;
    }
    for (auto& [target, kept] : now) {
      const auto record = find_node(snapshot, target);
      kept.bound = record ? record->pods.size() : 0;
    }
  }
  const auto before = std::exchange(kept_, std::move(now));
  return std::any_of(before.begin(), before.end(), [&](const auto& entry) {
    const auto& [target, kept] = entry;
    const auto found = kept_.find(target);
    const auto record = find_node(snapshot, target);
    const auto bound = static_cast<std::int64_t>(record ? record->pods.size() : 0);
    const std::int64_t left = found == kept_.end() ? 0 : found->second.count;
    return kept.count - left > bound - static_cast<std::int64_t>(kept.bound);
  });
}

// A changed annotation is an event kube-scheduler retries an extender-refused pod on.
base::Task<void> Reservations::wake(std::vector<model::ObjectKey> pods) {
  const std::string stamp = base::format_rfc3339_micro(services_.loop.now());
  for (const auto& pod : pods) {
    boost::json::value patch = {{"metadata", {{"annotations", {{model::kKickAnnotation, stamp}}}}}};
    auto reply = co_await services_.client.patch(model::kPodResource, pod, kube::PatchType::Merge,
                                                 std::move(patch));
    if (!reply && reply.error().kind != base::ErrorKind::NotFound) {
      services_.log.warn("could not wake a pod",
                         {{"Pod", pod.to_string()}, {"error", reply.error().message}});
    }
  }
}

void Reservations::forget_settled(const scheduling::Snapshot& snapshot) {
  std::set<std::string_view> pending;
  for (const auto& pod : snapshot.pending_pods) {
    pending.insert(pod->meta.uid);
  }
  std::erase_if(refused_, [&](const auto& entry) { return !pending.contains(entry.first); });
}

base::Task<void> Reservations::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    co_await signal_.wait(stop, kLook);
    if (stop.stop_requested()) {
      co_return;
    }
    while (!ask_again_.empty() && ask_again_.front().first <= services_.loop.now()) {
      to_wake_.push_back(std::move(ask_again_.front().second));
      ask_again_.pop_front();
    }
    end_expired(*services_.state.snapshot());
    void_what_lacks_room(*services_.state.snapshot());
    const auto snapshot = services_.state.snapshot();
    forget_settled(*snapshot);
    const std::uint64_t elsewhere = services_.state.placed_elsewhere();
    services_.metrics.count(
        "millwright_pods_placed_elsewhere_total",
        "Pods bound elsewhere though room was reserved for all that their "
        "groups needed.",
        {}, static_cast<double>(elsewhere - std::exchange(placed_elsewhere_, elsewhere)));
    std::vector<model::ObjectKey> pods;
    const auto named = std::exchange(to_wake_, {});
    const bool freed = room_came_free(*snapshot);
    for (const auto& [uid, refused] : refused_) {
      if (freed || std::find(named.begin(), named.end(), uid) != named.end()) {
        pods.push_back(refused.pod);
      }
    }
    co_await wake(std::move(pods));
  }
}

}  // namespace millwright::controllers
