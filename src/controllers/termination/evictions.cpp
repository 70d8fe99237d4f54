#include "controllers/termination/evictions.hpp"

#include "controllers/termination/termination_reports.hpp"
#include "millwright/controllers/termination/drain.hpp"
#include "millwright/model/conditions.hpp"

#include <algorithm>

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

// The pod is gone, or another one has its name.
bool is_gone(const base::Error& error) {
  return error.kind == base::ErrorKind::NotFound || error.kind == base::ErrorKind::Conflict;
}

}  // namespace

base::Task<base::Result<Requeue>> Evictions::drain(scheduling::NodeRecordPtr record) {
  const auto deadline = termination_deadline(*record);
  const DrainStep step = next_drain_step(*record, deadline, services_.loop.now());
  for (const auto& [pod, grace] : step.force_delete) {
    const bool leaves_in_time = pod->meta.is_deleting() && pod->meta.deletion_timestamp <= deadline;
    if (!leaves_in_time) {
      MW_CO_CHECK(co_await force_delete(pod, grace, *deadline));
    }
  }
  const std::string reason = disruption_reason(*record);
  for (const auto& pod : step.evict) {
    co_await evict(pod, record->node->meta.name, reason);
  }
  if (step.waiting > 0) {
    tell_waiting(services_, *record->node, step.waiting);
    co_return Requeue{kDrainPoll};
  }
  co_return Requeue{};
}

base::Task<base::Result<>> Evictions::force_delete(scheduling::PodPtr pod,
                                                   std::int64_t grace_seconds,
                                                   base::TimePoint deadline) {
  tell_force_deleted(services_, *pod, grace_seconds, deadline);
  kube::DeleteOptions options;
  options.uid = pod->meta.uid;
  options.grace_period_seconds = grace_seconds;
  auto deleted =
      co_await services_.client.remove(model::kPodResource, model::key_of(pod->meta), options);
  if (!deleted && !is_gone(deleted.error())) {
    co_return tl::unexpected(std::move(deleted).error());
  }
  co_return base::Result<>{};
}

base::Task<void> Evictions::evict(scheduling::PodPtr pod, std::string node, std::string reason) {
  if (const auto attempt = attempts_.find(pod->meta.uid);
      attempt != attempts_.end() && services_.loop.now() < attempt->second.next) {
    co_return;
  }
  kube::DeleteOptions options;
  options.uid = pod->meta.uid;
  auto reply = co_await services_.client.evict(model::key_of(pod->meta), options);
  count_eviction(services_, reply ? nullptr : &reply.error());
  if (!reply && !is_gone(reply.error())) {
    note_refusal(*pod, node, reply.error());
    co_return;
  }
  attempts_.erase(pod->meta.uid);
  if (reply) {
    tell_evicted(services_, *pod, reason);
  }
}

void Evictions::note_refusal(const model::Pod& pod, const std::string& node,
                             const base::Error& error) {
  auto& attempt = attempts_[pod.meta.uid];
  const base::Duration delay =
      std::min(kMinEvictionBackoff * (1 << std::min(attempt.failures, 7)), kMaxEvictionBackoff);
  ++attempt.failures;
  attempt.next = services_.loop.now() + delay;
  tell_eviction_refused(services_, pod, node, error);
}

}  // namespace millwright::controllers
