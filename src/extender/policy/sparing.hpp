// Provision instead of preempt: for how long a pod's victims are spared because a node can be
// bought for it instead.
#pragma once

#include "millwright/extender/extender.hpp"

#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace millwright::extender {

// Until when victims are spared for the pod, counted from its creation. nullopt: they are not; it
// does not ask for it, or nothing is ever bought for it. Invalid: its annotation is not a duration.
base::Result<std::optional<base::TimePoint>> spares_until(const PodFacts& pod);

// Whether some pool may grow by a node for the pod, as far as its limits go.
bool any_pool_may_grow(const PodFacts& pod, const scheduling::Snapshot& snapshot);

// Tells of each problem once, as far as it remembers. Thread-safe.
class ProblemReport {
 public:
  explicit ProblemReport(std::function<void(const std::string& problem)> tell)
      : tell_(std::move(tell)) {}
  void tell(const std::string& problem);

 private:
  static constexpr std::size_t kRemembered = 1024;

  std::function<void(const std::string& problem)> tell_;
  std::mutex mutex_;
  std::set<std::string> told_;
};

}  // namespace millwright::extender
