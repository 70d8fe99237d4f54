// The scheduling queue: active pods by priority and age, pods in backoff, and unschedulable pods,
// which wait for an event. As in kube-scheduler, any event wakes a pod that an extender refused; a
// pod that only in-tree filters refused is woken by events that may help it; a pod whose cycle
// failed is woken by time alone. Loop thread only.
#pragma once

#include "millwright/base/time.hpp"
#include "sandbox/scheduler/cache.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace millwright::sandbox {

enum class Rejection : std::uint8_t { None, InTree, Extender, Error };

struct QueuedPod {
  PodPtr pod;
  int attempts = 0;
  Rejection rejection = Rejection::None;
  base::TimePoint backoff_until;
  base::TimePoint waiting_since;
  std::uint64_t sequence = 0;
};

class SchedulingQueue {
 public:
  SchedulingQueue(base::Duration min_backoff, base::Duration max_backoff, base::Duration flush)
      : min_backoff_(min_backoff), max_backoff_(max_backoff), flush_(flush) {}

  // New, or changed so that it may be tried again at once.
  void add(PodPtr pod);
  // The pod changed without becoming more schedulable.
  void refresh(PodPtr pod);
  void remove(std::string_view uid);
  bool contains(std::string_view uid) const { return pods_.contains(uid); }
  // By uid; nullptr when unknown.
  const QueuedPod* find(std::string_view uid) const;

  // The next pod to try: an active one; if there is none, the next one in backoff.
  std::optional<QueuedPod> pop(base::TimePoint now);
  // The tried pod did not get a node.
  void put_back(QueuedPod pod, Rejection why, base::TimePoint now);
  // Something happened that may make a node fit for the pods that `helps` names.
  void wake(const std::function<bool(const model::Pod&)>& helps, base::TimePoint now);
  // When pop() may next have something, if it has nothing now.
  std::optional<base::TimePoint> next_time() const;

 private:
  enum class Place : std::uint8_t { Active, Backoff, Waiting };
  struct Entry {
    QueuedPod queued;
    Place place = Place::Active;
  };
  base::Duration backoff_of(int attempts) const;

  base::Duration min_backoff_;
  base::Duration max_backoff_;
  base::Duration flush_;
  std::uint64_t sequence_ = 0;
  std::map<std::string, Entry, std::less<>> pods_;
};

}  // namespace millwright::sandbox
