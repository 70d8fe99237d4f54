#include "sandbox/scheduler/queue.hpp"

#include <algorithm>
#include <tuple>

namespace millwright::sandbox {

base::Duration SchedulingQueue::backoff_of(int attempts) const {
  auto backoff = min_backoff_;
  for (int i = 1; i < attempts && backoff < max_backoff_; ++i) {
    backoff *= 2;
  }
  return std::min(backoff, max_backoff_);
}

void SchedulingQueue::add(PodPtr pod) {
  const auto uid = pod->meta.uid;
  auto& entry = pods_[uid];
  entry.queued.pod = std::move(pod);
  entry.queued.sequence = ++sequence_;
  entry.place = Place::Active;
}

void SchedulingQueue::refresh(PodPtr pod) {
  if (const auto found = pods_.find(pod->meta.uid); found != pods_.end()) {
    found->second.queued.pod = std::move(pod);
  }
}

void SchedulingQueue::remove(std::string_view uid) {
  if (const auto found = pods_.find(uid); found != pods_.end()) {
    pods_.erase(found);
  }
}

const QueuedPod* SchedulingQueue::find(std::string_view uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second.queued;
}

std::optional<QueuedPod> SchedulingQueue::pop(base::TimePoint now) {
  auto best = pods_.end();
  const auto rank = [](const Entry& entry) {
    return std::tuple(entry.place != Place::Active, -std::int64_t{entry.queued.pod->spec.priority},
                      entry.queued.sequence);
  };
  for (auto it = pods_.begin(); it != pods_.end(); ++it) {
    auto& entry = it->second;
    if (entry.place == Place::Waiting && entry.queued.rejection != Rejection::Error &&
        now - entry.queued.waiting_since >= flush_) {
      entry.place = Place::Active;
    }
    if (entry.place == Place::Backoff && entry.queued.backoff_until <= now) {
      entry.place = Place::Active;
    }
    // Pods in backoff are popped early when nothing else is there, unless their cycle failed.
    const bool eligible =
        entry.place == Place::Active ||
        (entry.place == Place::Backoff && entry.queued.rejection != Rejection::Error);
    if (eligible && (best == pods_.end() || rank(entry) < rank(best->second))) {
      best = it;
    }
  }
  if (best == pods_.end()) {
    return std::nullopt;
  }
  auto popped = std::move(best->second.queued);
  pods_.erase(best);
  ++popped.attempts;
  return popped;
}

void SchedulingQueue::put_back(QueuedPod pod, Rejection why, base::TimePoint now) {
  pod.rejection = why;
  pod.backoff_until = now + backoff_of(pod.attempts);
  pod.waiting_since = now;
  pod.sequence = ++sequence_;
  const auto uid = pod.pod->meta.uid;
  pods_[uid] = Entry{std::move(pod), why == Rejection::Error ? Place::Backoff : Place::Waiting};
}

void SchedulingQueue::wake(const std::function<bool(const model::Pod&)>& helps,
                           base::TimePoint now) {
  for (auto& [uid, entry] : pods_) {
    if (entry.place != Place::Waiting) {
      continue;
    }
    if (entry.queued.rejection == Rejection::Extender || helps(*entry.queued.pod)) {
      entry.place = entry.queued.backoff_until > now ? Place::Backoff : Place::Active;
    }
  }
}

std::optional<base::TimePoint> SchedulingQueue::next_time() const {
  std::optional<base::TimePoint> next;
  for (const auto& [uid, entry] : pods_) {
    const auto due = entry.place == Place::Waiting ? entry.queued.waiting_since + flush_
                                                   : entry.queued.backoff_until;
    next = std::min(next.value_or(due), due);
  }
  return next;
}

}  // namespace millwright::sandbox
