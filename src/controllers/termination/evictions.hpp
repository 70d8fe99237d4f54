// Pods leave a node that is draining (Karpenter's terminator and its eviction queue). Loop thread
// only.
#pragma once

#include "millwright/controllers/reconciler.hpp"
#include "millwright/controllers/services.hpp"

#include <map>
#include <string>

namespace millwright::controllers {

class Evictions {
 public:
  explicit Evictions(Services& services) : services_(services) {}

  // One step: evicts the pods whose turn it is, and deletes those whose time is up. Nothing when
  // the node is empty, else when to look again.
  base::Task<base::Result<Requeue>> drain(scheduling::NodeRecordPtr record);

 private:
  struct Attempt {
    int failures = 0;
    base::TimePoint next;
  };
  // A refused eviction is tried again with backoff: 100 ms to 10 s.
  base::Task<void> evict(scheduling::PodPtr pod, std::string node, std::string reason);
  base::Task<base::Result<>> force_delete(scheduling::PodPtr pod, std::int64_t grace_seconds,
                                          base::TimePoint deadline);
  void note_refusal(const model::Pod& pod, const std::string& node, const base::Error& error);

  Services& services_;
  std::map<std::string, Attempt, std::less<>> attempts_;  // refused so far, by pod uid
};

}  // namespace millwright::controllers
