#include "millwright/controllers/provisioning/holds.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>

namespace millwright::controllers {
namespace {

constexpr auto kLook = std::chrono::seconds(1);

bool awaits_successor(const scheduling::Hold& hold) {
  return hold.kind != scheduling::HoldKind::Pod && !hold.owner_uid.empty();
}

}  // namespace

scheduling::HoldId hold_id(const model::Pod& pod) {
  using scheduling::HoldKind;
  return {pod.spec.node_name.empty() ? HoldKind::Pod : HoldKind::Successor, pod.meta.uid};
}

std::vector<scheduling::Hold> make_holds(const std::vector<scheduling::PodPtr>& pods,
                                         const std::string& target, base::TimePoint deadline) {
  std::vector<scheduling::Hold> holds;
  holds.reserve(pods.size());
  for (const auto& pod : pods) {
    const auto* owner = pod->meta.controller();
    if (!pod->spec.node_name.empty() && owner == nullptr) {
      continue;
    }
    holds.push_back({.kind = hold_id(*pod).kind,
                     .pod_uid = pod->meta.uid,
                     .pod = model::key_of(pod->meta),
                     .target = target,
                     .requests = scheduling::effective_requests(*pod),
                     .priority = pod->spec.priority,
                     .deadline = deadline,
                     .owner_uid = owner != nullptr ? owner->uid : std::string()});
  }
  return holds;
}

Holds::Holds(Services& services) : services_(services), signal_(services.loop) {}

void Holds::inherit() {
  const auto snapshot = services_.state.snapshot();
  if (std::none_of(snapshot->holds.begin(), snapshot->holds.end(), awaits_successor)) {
    return;
  }
  std::set<std::string_view> held;
  for (const auto& hold : snapshot->holds) {
    if (hold.kind == scheduling::HoldKind::Pod) {
      held.insert(hold.pod_uid);
    }
  }
  // Pods per controller in creation order, so that the oldest inherits first.
  std::map<std::string_view, std::vector<scheduling::PodPtr>> waiting;
  for (const auto& pod : snapshot->pending_pods) {
    const auto* owner = pod->meta.controller();
    if (owner != nullptr && !held.contains(pod->meta.uid) && !pod->meta.is_deleting()) {
      waiting[owner->uid].push_back(pod);
    }
  }
  for (auto& [owner, pods] : waiting) {
    std::stable_sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) {
      return a->meta.creation_timestamp > b->meta.creation_timestamp;  // taken from the back
    });
  }
  for (const auto& hold : snapshot->holds) {
    const auto pods = waiting.find(hold.owner_uid);
    if (!awaits_successor(hold) || pods == waiting.end() || pods->second.empty()) {
      continue;
    }
    const auto heir = pods->second.back();
    pods->second.pop_back();
    scheduling::Hold inherited = hold;
    inherited.kind = scheduling::HoldKind::Pod;
    inherited.pod_uid = heir->meta.uid;
    inherited.pod = model::key_of(heir->meta);
    inherited.requests = scheduling::effective_requests(*heir);
    services_.ledger.release(hold.id());
    services_.ledger.hold(std::move(inherited));
    with_room_.push_back(heir->meta.uid);
    signal_.notify();
  }
}

void Holds::refused(std::string pod_uid, model::ObjectKey pod) {
  const auto [entry, added] = refused_.try_emplace(std::move(pod_uid));
  entry->second = {.pod = std::move(pod)};
  if (added) {
    signal_.notify();  // notes the present holds: it was refused because of one of them
  }
}

void Holds::has_room(std::string_view pod_uid) {
  const auto found = refused_.find(pod_uid);
  if (found != refused_.end() && !std::exchange(found->second.woken_for_room, true)) {
    with_room_.emplace_back(pod_uid);
    signal_.notify();
  }
}

// Whether a hold ended since the last look without its pod on the node that it kept.
bool Holds::room_came_free(const scheduling::Snapshot& snapshot) {
  std::map<std::string, std::string, std::less<>> held;
  if (!refused_.empty()) {
    for (const auto& hold : snapshot.holds) {
      if (hold.kind == scheduling::HoldKind::Pod) {
        held.emplace(hold.pod_uid, hold.target);
      }
    }
  }
  auto gone = std::exchange(held_, std::move(held));
  std::erase_if(gone, [&](const auto& hold) { return held_.contains(hold.first); });
  if (gone.empty() || refused_.empty()) {
    return false;
  }
  for (const auto& record : snapshot.nodes) {
    for (const auto& pod : record->pods) {
      const auto found = gone.find(pod->meta.uid);
      if (found != gone.end() &&
          (found->second == record->name() || found->second == record->claim_name())) {
        gone.erase(found);
      }
    }
  }
  return !gone.empty();
}

// A changed annotation is an event kube-scheduler retries an extender-refused pod on.
base::Task<void> Holds::wake(std::vector<model::ObjectKey> pods) {
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

base::Task<void> Holds::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    co_await signal_.wait(stop, kLook);
    if (stop.stop_requested()) {
      co_return;
    }
    std::set<std::string, std::less<>> pending;
    const auto snapshot = services_.state.snapshot();
    for (const auto& pod : snapshot->pending_pods) {
      if (refused_.contains(pod->meta.uid)) {
        pending.insert(pod->meta.uid);
      }
    }
    std::erase_if(refused_, [&](const auto& entry) { return !pending.contains(entry.first); });

    inherit();
    std::vector<model::ObjectKey> to_wake;
    for (const auto& uid : std::exchange(with_room_, {})) {
      if (const auto found = refused_.find(uid); found != refused_.end()) {
        to_wake.push_back(found->second.pod);
      }
    }
    const auto expired = services_.ledger.expire(services_.loop.now());
    const bool freed = room_came_free(*snapshot);
    if (!expired.empty()) {
      services_.log.info("holds ended without their pods",
                         {{"holds", std::to_string(expired.size())}});
      services_.metrics.count("millwright_holds_expired_total",
                              "Holds that ended before their pod was bound.", {},
                              static_cast<double>(expired.size()));
      if (on_expired_) {
        on_expired_();
      }
    }
    if (freed || !expired.empty()) {
      to_wake.clear();
      for (const auto& [uid, refused] : refused_) {
        to_wake.push_back(refused.pod);
      }
    }
    co_await wake(std::move(to_wake));
  }
}

}  // namespace millwright::controllers
