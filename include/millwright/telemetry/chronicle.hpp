// Facts for the page of metrics that no snapshot holds: since when pods wait, which plan is being
// made, how many nodes disruption could remove. Controllers report them here as they happen. Pods
// are remembered only while they wait. Thread-safe.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/base/time.hpp"
#include "millwright/model/pod.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::scheduling {
struct Plan;
}

namespace millwright::telemetry {

// What the planner did about a waiting pod, and when; Karpenter's pod acknowledgement, scheduling
// decision and scheduling success times. They live in this process's memory only.
struct PlanTimes {
  std::optional<base::TimePoint> considered;  // first part of a plan
  std::optional<base::TimePoint> decided;     // first plan with it was done
  std::optional<base::TimePoint> placed;      // first plan that had a place for it was done
};

class Chronicle {
 public:
  // Durations go to `metrics` when they are complete.
  Chronicle(base::Metrics& metrics, base::TimePoint begun);

  base::TimePoint begun() const { return begun_; }

  // Only the leader counts: every replica sees the same pods, and Prometheus adds replicas up.
  void set_leading(bool leading) { leading_ = leading; }
  bool leading() const { return leading_; }

  // Every pod event. A pod that was pending when it was first seen counts for
  // karpenter_pods_{startup,bound,provisioning_bound,provisioning_startup}_duration_seconds.
  void pod_seen(const model::Pod& pod);
  void pod_gone(std::string_view uid);

  PlanTimes times_of(std::string_view uid) const;

  // One plan at a time. The id is what karpenter_scheduler_queue_depth names it by.
  struct Solve {
    std::string id;
    std::size_t pods = 0;
    base::TimePoint begun;
  };
  using Pods = std::vector<std::shared_ptr<const model::Pod>>;
  void solve_begun(const Pods& pods, base::TimePoint now);
  // The plan has a place for every pod that it does not refuse.
  void solve_ended(const Pods& pods, const scheduling::Plan& plan, base::TimePoint now);
  std::optional<Solve> solving() const;

  // How many nodes could go for a reason ("empty") when disruption last looked.
  void eligible(std::string_view reason, std::size_t nodes);
  std::map<std::string, std::size_t, std::less<>> eligible() const;

 private:
  struct Waiting {
    PlanTimes times;
    bool bound = false;
  };
  void decide(Waiting& waiting, bool placed, base::TimePoint now);
  void observe_bound(Waiting& waiting, const model::Pod& pod);
  void observe_started(const Waiting& waiting, const model::Pod& pod);

  base::Metrics& metrics_;
  const base::TimePoint begun_;
  std::atomic<bool> leading_{false};
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Waiting> waiting_;  // by pod uid
  std::optional<Solve> solving_;
  std::uint64_t solves_ = 0;
  std::map<std::string, std::size_t, std::less<>> eligible_;
};

}  // namespace millwright::telemetry
