// Pods leave a node that is draining (Karpenter's terminator and its eviction queue). Loop thread
// only.
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <map>
#include <string>
#include <string_view>

namespace millwright::controllers {

class Evictions {
 public:
  explicit Evictions(Services& services) : services_(services) {}

  // One step: evicts the pods whose turn it is, and deletes those whose time is up, all together:
  // one that is refused or slow delays no other. Nothing when the node is empty, else when to look
  // again. A node must not be drained twice at the same time.
  base::Task<Requeue> drain(scheduling::NodeRecordPtr record);
  // The node is gone, or stays after all.
  void forget(std::string_view node);

 private:
  struct Attempt {
    int failures = 0;
    base::TimePoint next;
  };
  using Attempts = std::map<std::string, Attempt, std::less<>>;  // refused so far, by pod uid

  // Of the node's pods; those that left are forgotten.
  void keep_present(const scheduling::NodeRecord& record);
  bool is_due(const std::string& node, const model::Pod& pod) const;
  // A refused eviction is tried again with backoff: 100 ms to 10 s.
  base::Task<void> evict(scheduling::PodPtr pod, std::string node, std::string reason);
  base::Task<void> force_delete(scheduling::PodPtr pod, std::int64_t grace_seconds,
                                base::TimePoint deadline);
  void note_refusal(const model::Pod& pod, const std::string& node, const base::Error& error);

  Services& services_;
  std::map<std::string, Attempts, std::less<>> attempts_;  // by node
};

}  // namespace millwright::controllers
