// How fast a recorded day went where no autoscaler decides it: how long machines boot and pods
// start and end, and how many pods kube-controller-manager makes a second. A replay at another pace
// than the day's would say more about the pace than about the autoscaler. Pure.
#pragma once

#include "app/replay/day/recorded_day.hpp"
#include "app/whatif/cluster/cluster_files.hpp"
#include "millwright/cloud/simulated.hpp"

#include <optional>
#include <span>

namespace millwright::app {

// What nothing of the day shows is nullopt: the sandbox's own pace counts then.
struct DayPace {
  // From a NodeClaim to its machine, and from there to its Node; a tenth of the day's was faster
  // than `least`, and a tenth slower than `most`.
  std::optional<cloud::Latency> launch;
  std::optional<cloud::Latency> boot;
  // Medians. From the Node until it is Ready.
  std::optional<base::Duration> node_ready;
  // Of pods other than DaemonSets': from the binding until it is Ready; from its deletion until its
  // containers have ended, within its grace period; and until it is gone.
  std::optional<base::Duration> pod_start;
  std::optional<base::Duration> pod_stop;
  std::optional<base::Duration> pod_removal;
  // Pods that are made and deleted for ReplicaSets, after a burst of kReplicaBurst.
  std::optional<double> replica_pods_per_second;
};

// kube-controller-manager's own limits, where nothing else is known.
inline constexpr double kReplicaPodsPerSecond = 20;
inline constexpr int kReplicaBurst = 30;

// `objects` are those of the start: KWOKNodeClasses say by how much registration is delayed, which
// is no part of the boot.
DayPace pace_of(const RecordedDay& day, std::span<const ClusterObject> objects);

}  // namespace millwright::app
