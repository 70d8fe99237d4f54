#include "millwright/controllers/provisioning/reservations.hpp"

#include "controllers/process/at_once.hpp"
#include "controllers/provisioning/free_room.hpp"
#include "controllers/provisioning/misplaced_room.hpp"
#include "controllers/provisioning/refused_pods.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/scheduling/attachments.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kLook = std::chrono::seconds(1);
// A look costs more the more pods are refused; events that come close together share one.
constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
// Nothing is misplaced before it has stood still for a second.
constexpr auto kBetweenLooksForMisplaced = std::chrono::milliseconds(250);
// How long a drain may take until what is reserved for its pods is given to others.
constexpr auto kLongestDrain = std::chrono::minutes(30);
// A kubelet that starts again is Ready sooner.
constexpr auto kUnreadyFor = std::chrono::seconds(10);
constexpr std::size_t kWakesAtOnce = 16;

}  // namespace

std::vector<scheduling::Reservation> reservations_for(const std::vector<scheduling::PodPtr>& pods,
                                                      const std::string& target,
                                                      base::TimePoint until) {
  std::map<scheduling::GroupId, scheduling::Reservation> by_group;
  for (const auto& pod : pods) {
    const bool comes_back =
        scheduling::has_successor(*pod) && !base::planted(base::Mutant::SuccessorsForgotten);
    if (!pod->spec.node_name.empty() && !comes_back) {
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

Reservations::Reservations(Services& services)
    : services_(services),
      signal_(services.loop),
      refused_(std::make_unique<RefusedPods>()),
      misplaced_(std::make_unique<MisplacedRoom>()) {}
Reservations::~Reservations() = default;

void Reservations::refused(extender::RefusedPod refused) {
  const extender::PodFacts& pod = refused.pod;
  const bool may_wake_others = refused_->add(
      pod.uid,
      {.key = pod.key, .group = pod.group, .requests = pod.requests, .priority = pod.priority},
      services_.loop.now());
  if (may_wake_others) {
    signal_.notify();  // also notes what is reserved now: it was refused because of that
  }
  if (!refused.not_offered.empty()) {
    not_offered(refused);
  }
}

// Whom the leader before refused, nobody else knows: each pod that kube-scheduler reported may be
// one.
void Reservations::assume_refused(const scheduling::Snapshot& snapshot) {
  for (const auto& pod : snapshot.pending_pods) {
    if (model::is_reported_unschedulable(*pod)) {
      refused_->assume(pod->meta.uid,
                       {.key = model::key_of(pod->meta),
                        .group = scheduling::group_of(*pod),
                        .requests = scheduling::effective_requests(*pod),
                        .priority = pod->spec.priority},
                       services_.loop.now());
    }
  }
}

void Reservations::not_offered(const extender::RefusedPod& refused) {
  const std::string& uid = refused.pod.uid;
  if (asked_again_.insert(uid).second) {
    // kube-scheduler may not have seen yet that the node is up.
    ask_again_.emplace_back(services_.loop.now() + kLook, uid);
    return;
  }
  asked_again_.erase(uid);
  if (may_wait_for_others(refused.pod.group, *services_.state.snapshot(),
                          *services_.ledger.view())) {
    return;
  }
  if (lower_unused(refused.pod.group, refused.not_offered,
                   "kube-scheduler does not offer the node to the pods") > 0) {
    refused_->wake(uid);
    signal_.notify();
  }
}

std::int32_t Reservations::lower_unused(const scheduling::GroupId& group,
                                        const std::vector<std::string>& targets, const char* why) {
  std::int32_t freed = 0;
  const auto view = services_.ledger.view();
  const auto passes = services_.ledger.passes(services_.loop.now());
  for (const auto& target : targets) {
    const auto* reservation = view->find(group, target);
    if (reservation == nullptr) {
      continue;
    }
    // Others of the group were offered it and are on their way.
    const auto hash = cluster::Ledger::node_hash(target);
    const auto coming = std::count_if(passes.begin(), passes.end(), [&](const auto& pass) {
      return pass->group == group && pass->may_land_on(hash);
    });
    const std::int32_t unused = std::max(0, reservation->count - static_cast<std::int32_t>(coming));
    freed += unused;
    services_.ledger.lower(group, target, unused);
  }
  if (freed > 0) {
    tell_void(freed, why);
  }
  return freed;
}

void Reservations::void_what_is_misplaced(const scheduling::SnapshotPtr& snapshot) {
  const base::TimePoint now = services_.loop.now();
  if (now < next_look_for_misplaced_) {
    return;
  }
  next_look_for_misplaced_ = now + kBetweenLooksForMisplaced;
  const auto view = services_.ledger.view();
  for (const auto& room : misplaced_->look(snapshot, *view, services_.ledger.passes(now), now,
                                           services_.options.solve)) {
    lower_unused(room.group, room.targets, "the node is not where the pods may go");
  }
}

void Reservations::has_room(std::string_view pod_uid) {
  if (refused_->contains(pod_uid)) {
    refused_->has_place(pod_uid);
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

// A plan may be carried out on a node that has just gone. Nobody would end what is reserved there.
void Reservations::end_what_is_gone(const scheduling::Snapshot& snapshot) {
  if (!snapshot.synced) {
    return;
  }
  std::vector<std::string> gone;
  std::int32_t ended = 0;
  for (const auto& [target, list] : services_.ledger.view()->by_target) {
    if (find_node(snapshot, target) || services_.state.find_claim(target) ||
        services_.claims_in_creation->contains(target)) {
      continue;
    }
    gone.push_back(target);
    for (const auto& reservation : list) {
      ended += reservation.count;
    }
  }
  for (const auto& target : gone) {
    services_.ledger.forget_target(target);
  }
  if (ended > 0) {
    tell_void(ended, "the node is gone");
  }
}

// kube-scheduler puts no pod there: somebody has cordoned the node, or it has not been Ready for
// longer than a kubelet takes to start again.
bool Reservations::is_closed(const scheduling::NodeRecord& record, const Times& unready_before) {
  if (record.node->unschedulable || model::is_ready(*record.node)) {
    return record.node->unschedulable;
  }
  const base::TimePoint now = services_.loop.now();
  const auto known = unready_before.find(record.name());
  const base::TimePoint since = known == unready_before.end() ? now : known->second;
  unready_since_.emplace(record.name(), since);
  return now - since >= kUnreadyFor;
}

// Room of a CapacityBuffer holds no pod back.
std::int32_t Reservations::void_all(const cluster::ReservationList& list) {
  std::int32_t freed = 0;
  for (const auto& reservation : list) {
    if (!reservation.of_buffer) {
      services_.ledger.lower(reservation.group, reservation.target, reservation.count);
      freed += reservation.count;
    }
  }
  return freed;
}

namespace {

// A kubelet says from the beginning how many CPUs and pods and how much memory there is. Devices
// come one after the other: until the node is initialized, what was promised of them counts.
model::ResourceList room_of(const scheduling::NodeRecord& record) {
  model::ResourceList room = record.allocatable();
  if (!record.initialized()) {
    for (const auto& [name, promised] : record.claim->allocatable) {
      if (name.find('/') != std::string::npos) {
        auto& seen = room[name];
        seen = std::max(seen, promised);
      }
    }
  }
  return room;
}

}  // namespace

std::int32_t Reservations::void_beyond_room(const scheduling::NodeRecord& record,
                                            const cluster::ReservationList& list) {
  model::ResourceList room;
  if (!record.marked_for_deletion) {
    room = room_of(record);
    model::subtract_from(room, record.pod_requests);
  }
  auto reservations = list.items();
  // A buffer comes after the pods that wait.
  std::stable_sort(reservations.begin(), reservations.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.of_buffer, b.priority) < std::tuple(b.of_buffer, a.priority);
  });
  std::int32_t freed = 0;
  for (const auto& reservation : reservations) {
    std::int32_t kept = 0;
    for (; kept < reservation.count && has_room_for(reservation.requests, room); ++kept) {
      model::subtract_from(room, reservation.requests);
    }
    services_.ledger.lower(reservation.group, reservation.target, reservation.count - kept);
    // Nobody waits for what a buffer lacks; the next plan makes room for it.
    freed += reservation.of_buffer ? 0 : reservation.count - kept;
  }
  return freed;
}

// Other pods took the room, DaemonSets' for example, or the node came out smaller than promised, is
// going, or takes no pods.
void Reservations::void_what_lacks_room(const scheduling::Snapshot& snapshot) {
  const auto view = services_.ledger.view();
  const Times unready_before = std::exchange(unready_since_, {});
  std::int32_t closed = 0;
  std::int32_t lacking = 0;
  for (const auto& [target, list] : view->by_target) {
    const auto record = find_node(snapshot, target);
    if (!record || !record->registered() || list.empty()) {
      continue;
    }
    // What is not initialized yet is closed for a reason that will pass.
    if (record->initialized() && is_closed(*record, unready_before)) {
      closed += void_all(list);
    } else {
      lacking += void_beyond_room(*record, list);
    }
  }
  if (closed > 0) {
    tell_void(closed, "the node takes no pods");
  }
  if (lacking > 0) {
    tell_void(lacking, "the node lacks the room");
  }
}

// A node's CSI drivers may attach fewer volumes than was planned with: nobody knew before they
// said.
void Reservations::void_what_cannot_attach(const scheduling::Snapshot& snapshot) {
  scheduling::Attachments attachments(snapshot);
  const auto view = services_.ledger.view();
  std::int32_t freed = 0;
  for (const auto& [target, list] : view->by_target) {
    const auto record = find_node(snapshot, target);
    if (!record) {
      continue;
    }
    auto reservations = list.items();
    const bool attaches =
        std::any_of(reservations.begin(), reservations.end(), [&](const auto& reservation) {
          return !attachments.of_group(reservation.group, reservation.count).empty();
        });
    if (!attaches) {
      continue;
    }
    auto room = attachments.free_on(*record);
    std::stable_sort(reservations.begin(), reservations.end(),
                     [](const auto& a, const auto& b) { return a.priority > b.priority; });
    for (const auto& reservation : reservations) {
      std::int32_t kept = reservation.count;
      auto volumes = attachments.of_group(reservation.group, kept, record.get());
      while (kept > 0 && !scheduling::fits(volumes, room)) {
        volumes = attachments.of_group(reservation.group, --kept, record.get());
      }
      for (const auto& [driver, count] : volumes) {
        if (const auto left = room.find(driver); left != room.end()) {
          left->second -= count;
        }
      }
      services_.ledger.lower(reservation.group, target, reservation.count - kept);
      // Nobody waits for what a buffer lacks; the next plan makes room for it.
      freed += reservation.of_buffer ? 0 : reservation.count - kept;
    }
  }
  if (freed > 0) {
    tell_void(freed, "the node cannot attach so many volumes");
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

// A changed annotation is an event kube-scheduler retries an extender-refused pod on.
base::Task<void> Reservations::wake(model::ObjectKey pod, std::string stamp) {
  boost::json::value patch = {{"metadata", {{"annotations", {{model::kKickAnnotation, stamp}}}}}};
  auto reply = co_await services_.client.patch(model::kPodResource, pod, kube::PatchType::Merge,
                                               std::move(patch));
  if (!reply && reply.error().kind != base::ErrorKind::NotFound) {
    services_.log.warn("could not wake a pod",
                       {{"Pod", pod.to_string()}, {"error", reply.error().message}});
    refused_->not_woken(pod, services_.loop.now());
  }
}

base::Task<void> Reservations::wake_refused() {
  if (base::planted(base::Mutant::RefusedNotWoken)) {
    co_return;
  }
  while (!ask_again_.empty() && ask_again_.front().first <= services_.loop.now()) {
    refused_->wake(ask_again_.front().second);
    ask_again_.pop_front();
  }
  const auto snapshot = services_.state.snapshot();
  refused_->keep_pending(*snapshot);
  std::erase_if(asked_again_, [this](const auto& uid) { return !refused_->contains(uid); });
  const auto find_target = [&](const std::string& target) {
    const auto node = find_node(*snapshot, target);
    return node ? node : services_.state.find_claim(target);
  };
  const std::string stamp = base::format_rfc3339_micro(services_.loop.now());
  std::vector<base::Task<void>> wakes;
  for (auto& pod :
       refused_->due(*snapshot, *services_.ledger.view(), find_target, services_.loop.now())) {
    wakes.push_back(wake(std::move(pod), stamp));
  }
  if (!wakes.empty()) {
    co_await run_at_once(services_.loop, std::move(wakes), kWakesAtOnce);
  }
}

void Reservations::count_placed_elsewhere() {
  const std::uint64_t elsewhere = services_.state.placed_elsewhere();
  services_.metrics.count(
      "millwright_pods_placed_elsewhere_total",
      "Pods bound elsewhere though room was reserved for all that their "
      "groups needed.",
      {}, static_cast<double>(elsewhere - std::exchange(placed_elsewhere_, elsewhere)));
}

base::Task<void> Reservations::run(std::stop_token stop) {
  bool assumed = !services_.options.extender_called;
  while (!stop.stop_requested()) {
    co_await signal_.wait(stop, kLook);
    if (stop.stop_requested()) {
      co_return;
    }
    if (const auto snapshot = services_.state.snapshot(); !assumed && snapshot->synced) {
      assume_refused(*snapshot);
      assumed = true;
    }
    end_expired(*services_.state.snapshot());
    end_what_is_gone(*services_.state.snapshot());
    void_what_lacks_room(*services_.state.snapshot());
    void_what_cannot_attach(*services_.state.snapshot());
    void_what_is_misplaced(services_.state.snapshot());
    count_placed_elsewhere();
    co_await wake_refused();
    co_await base::sleep(services_.loop, kBetweenLooks, stop);
  }
}

}  // namespace millwright::controllers
