// Pods leave a node that is draining (Karpenter's terminator and its eviction queue). Loop thread
// only.
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <map>
#include <stop_token>
#include <string>
#include <string_view>

namespace millwright::controllers {

class Evictions {
 public:
  explicit Evictions(Services& services) : services_(services), under_way_(services.loop) {}

  // One step: begins to evict the pods whose turn it is, and deletes those whose time is up, all
  // together: one that is refused or slow delays no other. Evictions may wait for their share of
  // the rate for long, so that the step does not wait for them. Nothing when the node is empty,
  // else when to look again. A node must not be drained twice at the same time. `stop` ends what
  // waits, evictions too.
  base::Task<Requeue> drain(scheduling::NodeRecordPtr record, std::stop_token stop);
  // Until the last eviction has ended that was begun.
  base::Task<void> join() { return under_way_.join(); }
  // The node is gone, or stays after all.
  void forget(std::string_view node);

 private:
  // Under way, or refused so far.
  struct Attempt {
    bool under_way = false;
    int failures = 0;
    base::TimePoint next;
  };
  using Attempts = std::map<std::string, Attempt, std::less<>>;  // by pod uid

  // Of the node's pods; those that left are forgotten once nothing about them is under way.
  void keep_present(const scheduling::NodeRecord& record);
  bool is_due(const std::string& node, const model::Pod& pod) const;
  // A refused eviction is tried again with backoff: 100 ms to 10 s.
  base::Task<void> evict(scheduling::PodPtr pod, std::string node, std::string reason,
                         std::stop_token stop);
  base::Task<void> force_delete(scheduling::PodPtr pod, std::int64_t grace_seconds,
                                base::TimePoint deadline, std::stop_token stop);
  // nullptr once the node was forgotten.
  Attempt* find_attempt(const std::string& node, const std::string& uid);
  void note_refusal(const model::Pod& pod, const std::string& node, const base::Error& error);
  void forget_attempt(const std::string& node, const std::string& uid);

  Services& services_;
  std::map<std::string, Attempts, std::less<>> attempts_;  // by node
  base::TaskGroup under_way_;                              // last: its tasks write what is above
};

}  // namespace millwright::controllers
