#include "controllers/termination/evictions.hpp"

#include "controllers/termination/termination_reports.hpp"
#include "millwright/controllers/termination/drain.hpp"
#include "millwright/model/conditions.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kDrainPoll = std::chrono::seconds(1);
constexpr base::Duration kMinEvictionBackoff = std::chrono::milliseconds(100);
constexpr base::Duration kMaxEvictionBackoff = std::chrono::seconds(10);

std::string disruption_reason(const scheduling::NodeRecord& record) {
  const auto* found =
      record.claim ? model::find_condition(record.claim->conditions, model::kDisruptionReason)
                   : nullptr;
  return found != nullptr ? found->reason : "Forceful Termination";
}

// It is being deleted already, and has no more time than that: the API server ignores a second
// deletion, however often it is asked for.
bool ends_by(const model::Pod& pod, base::TimePoint time) {
  return pod.meta.deletion_timestamp && *pod.meta.deletion_timestamp <= time;
}

// The pod is gone, or another one has its name.
bool is_gone(const base::Error& error) {
  return error.kind == base::ErrorKind::NotFound || error.kind == base::ErrorKind::Conflict;
}

bool was_stopped(const base::Error& error) {
  return error.kind == base::ErrorKind::Cancelled;
}

}  // namespace

base::Task<Requeue> Evictions::drain(scheduling::NodeRecordPtr record, std::stop_token stop) {
  const std::string& node = record->node->meta.name;
  const auto deadline = termination_deadline(*record);
  const base::TimePoint now = services_.loop.now();
  const DrainStep step = next_drain_step(*record, deadline, now);
  keep_present(*record);
  base::TaskGroup deletions(services_.loop);
  for (const auto& [pod, grace] : step.force_delete) {
    if (deadline && !ends_by(*pod, now + std::chrono::seconds(grace))) {
      deletions.spawn(force_delete(pod, grace, *deadline, stop));
    }
  }
  const std::string reason = disruption_reason(*record);
  for (const auto& pod : step.evict) {
    if (is_due(node, *pod)) {
      attempts_[node][pod->meta.uid].under_way = true;
      under_way_.spawn(evict(pod, node, reason, stop));
    }
  }
  co_await deletions.join();
  if (step.waiting == 0) {
    co_return Requeue{};
  }
  tell_waiting(services_, *record->node, step.waiting);
  co_return Requeue{kDrainPoll};
}

void Evictions::forget(std::string_view node) {
  if (const auto found = attempts_.find(node); found != attempts_.end()) {
    attempts_.erase(found);
  }
}

void Evictions::keep_present(const scheduling::NodeRecord& record) {
  const auto found = attempts_.find(record.node->meta.name);
  if (found == attempts_.end()) {
    return;
  }
  std::set<std::string_view> present;
  for (const auto& pod : record.pods) {
    present.insert(pod->meta.uid);
  }
  std::erase_if(found->second, [&present](const auto& entry) {
    const auto& [uid, attempt] = entry;
    return !attempt.under_way && !present.contains(uid);
  });
}

bool Evictions::is_due(const std::string& node, const model::Pod& pod) const {
  const auto of_node = attempts_.find(node);
  if (of_node == attempts_.end()) {
    return true;
  }
  const auto attempt = of_node->second.find(pod.meta.uid);
  return attempt == of_node->second.end() ||
         (!attempt->second.under_way && services_.loop.now() >= attempt->second.next);
}

base::Task<void> Evictions::force_delete(scheduling::PodPtr pod, std::int64_t grace_seconds,
                                         base::TimePoint deadline, std::stop_token stop) {
  tell_force_deleted(services_, *pod, grace_seconds, deadline);
  kube::DeleteOptions options;
  options.uid = pod->meta.uid;
  options.end_of_grace = deadline;  // not so many seconds: many deletions wait for their turn
  auto deleted = co_await services_.client.remove(model::kPodResource, model::key_of(pod->meta),
                                                  options, std::move(stop));
  if (!deleted && !is_gone(deleted.error()) && !was_stopped(deleted.error())) {
    services_.log.warn(
        "deleting a pod whose time is up failed, will try again",
        {{"Pod", model::key_of(pod->meta).to_string()}, {"error", deleted.error().message}});
  }
}

base::Task<void> Evictions::evict(scheduling::PodPtr pod, std::string node, std::string reason,
                                  std::stop_token stop) {
  kube::DeleteOptions options;
  options.uid = pod->meta.uid;
  auto reply = co_await services_.client.evict(model::key_of(pod->meta), options, std::move(stop));
  if (!reply && was_stopped(reply.error())) {
    forget_attempt(node, pod->meta.uid);  // nobody refused it
    co_return;
  }
  count_eviction(services_, reply ? nullptr : &reply.error());
  if (!reply && !is_gone(reply.error())) {
    note_refusal(*pod, node, reply.error());
    co_return;
  }
  forget_attempt(node, pod->meta.uid);
  if (reply) {
    tell_evicted(services_, *pod, reason);
  }
}

Evictions::Attempt* Evictions::find_attempt(const std::string& node, const std::string& uid) {
  const auto of_node = attempts_.find(node);
  if (of_node == attempts_.end()) {
    return nullptr;
  }
  const auto found = of_node->second.find(uid);
  return found == of_node->second.end() ? nullptr : &found->second;
}

void Evictions::note_refusal(const model::Pod& pod, const std::string& node,
                             const base::Error& error) {
  Attempt* const attempt = find_attempt(node, pod.meta.uid);
  if (attempt == nullptr) {
    return;
  }
  const base::Duration delay =
      std::min(kMinEvictionBackoff * (1 << std::min(attempt->failures, 7)), kMaxEvictionBackoff);
  ++attempt->failures;
  attempt->under_way = false;
  attempt->next = services_.loop.now() + delay;
  tell_eviction_refused(services_, pod, node, error);
}

void Evictions::forget_attempt(const std::string& node, const std::string& uid) {
  if (const auto of_node = attempts_.find(node); of_node != attempts_.end()) {
    of_node->second.erase(uid);
  }
}

}  // namespace millwright::controllers
