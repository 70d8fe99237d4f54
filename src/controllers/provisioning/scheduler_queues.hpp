// How far schedulers have come with their queues, by what PodScheduled of pods says: whether a pod
// that was not tried yet is about to be.
//
// A queue of thousands of pods takes kube-scheduler minutes, and it tries one pod after the other
// all the time. Where nobody has tried any of the pod's scheduler for a minute, it is gone, or
// there is none of that name. Where it has tried one that came more than a minute after this one,
// and is of no higher priority, it holds this one back, for example until the rest of a gang is
// there.
//
// A kube-scheduler that has just started queues what waits in no order of age, so that pods may
// seem to be held back until it has tried them. All that is lost is that they share no purchase.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::controllers {

class SchedulerQueues {
 public:
  // Pods wait for their first turn so long, and longer only while their queue moves.
  static constexpr base::Duration kLongestTurn = std::chrono::minutes(1);
  // A look reads all pods of the cluster, on the loop's thread. It is made only when it is needed,
  // for a pod that has waited for longer.
  static constexpr base::Duration kBetweenLooks = std::chrono::seconds(1);

  // Of a pod of the snapshot that its scheduler has not tried.
  bool is_about_to_try(const model::Pod& pod, const scheduling::Snapshot& snapshot,
                       base::TimePoint now);

 private:
  struct Queue {
    base::TimePoint moved;  // when a pod had its first turn, or was bound, last
    // When the youngest of the pods that had theirs was created, by priority. Those of DaemonSets
    // are left out: each new node has new ones, which are tried before all others.
    std::map<std::int32_t, base::TimePoint> youngest_created;
  };
  static bool has_passed_over(const Queue& queue, const model::Pod& pod, base::TimePoint created);
  void look(const scheduling::Snapshot& snapshot);
  void note(const model::Pod& pod);

  std::map<std::string, Queue, std::less<>> queues_;  // by the scheduler's name
  std::optional<base::TimePoint> looked_at_;
};

}  // namespace millwright::controllers
