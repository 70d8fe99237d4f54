// A simulated cluster: the API server, workload controllers, a scheduler that behaves as
// kube-scheduler and calls the real extender, and kubelets that register the simulated cloud's
// instances as Nodes and run their pods. The loop decides whether time is real, scaled or virtual.
// Loop thread only.
//
// How it is put together:
//   World world(loop, options);
//   SimulatedCloud cloud(..., world.kubelet());            // instances become Nodes here
//   kube::Client client(loop, world.transport());          // controllers run on this
//   world.set_extender(in_process_extender(extender));
//   world.api().set_admission(in_process_admission(admission));
//   world.start();
#pragma once

#include "millwright/sandbox/api_server.hpp"
#include "millwright/sandbox/callers.hpp"
#include "millwright/sandbox/recorder.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace millwright::cloud {
class InstanceListener;
}  // namespace millwright::cloud

namespace millwright::sandbox {

// KubeSchedulerConfiguration's defaults, where they matter here.
struct SchedulerOptions {
  std::string name = "default-scheduler";
  base::Duration min_backoff = std::chrono::seconds(1);
  base::Duration max_backoff = std::chrono::seconds(10);
  // An unschedulable pod is tried again after this long when no event has woken it.
  base::Duration unschedulable_flush = std::chrono::minutes(5);
  std::int64_t extender_weight = 3;
  // From the decision until the binding is written. Meanwhile the pod is only assumed on its node.
  base::Duration bind_latency = std::chrono::milliseconds(5);
  // From one pod to the next, as the limits of its client or a busy machine have it.
  base::Duration cycle_time{};
};

struct KubeletOptions {
  base::Duration ready_after = std::chrono::seconds(5);  // from registration to Ready
  base::Duration pod_start = std::chrono::seconds(2);    // from binding to Running
  // From deletion until the containers have ended; at most the grace period. Longer than pod_start,
  // as a server that finishes its requests is.
  base::Duration pod_stop = std::chrono::seconds(8);
  // From then until the pod is gone from the API server.
  base::Duration pod_removal{};
  base::Duration lease_interval = std::chrono::seconds(60);
  // A Node is reported Unknown when its machine has stopped for this long.
  base::Duration unreachable_after = std::chrono::seconds(40);
  // After that its Node is deleted, as by a cloud controller manager.
  base::Duration forgotten_after = std::chrono::seconds(5);
  // Pods of Jobs succeed this long after they started, unless kRunForAnnotation says otherwise.
  base::Duration job_run_time = std::chrono::seconds(10);
  // May change the Node that a kubelet is about to register; empty: none does.
  std::function<void(boost::json::value& node)> on_register;
  // By CSI driver, how many volumes every node can attach: what its CSINode says once it is Ready.
  std::map<std::string, std::int32_t> volume_limits;
};

// On a pod: a Go duration after which its containers end with success.
inline constexpr std::string_view kRunForAnnotation = "sandbox.millwright.io/run-for";

struct WorldOptions {
  std::uint64_t seed = 1;
  ApiServerOptions api;  // its seed is replaced by one drawn from `seed`
  SchedulerOptions scheduler;
  KubeletOptions kubelet;
  // How long a controller takes to see an event, as in a real cluster.
  base::Duration controller_lag = std::chrono::milliseconds(20);
  // How many pods a second are created and deleted for ReplicaSets, for all of them together, as
  // the limit of kube-controller-manager's client lets it (20 by default there). 0: as many as are
  // wanted, at once.
  double replica_pods_per_second = 0;
  // How many of them may come at once after a pause (30 by default there).
  int replica_burst = 1;
  Recorder::PriceLookup price;
  base::Logger log;
};

class World {
 public:
  World(base::Loop& loop, WorldOptions options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  base::Loop& loop() const;
  ApiServer& api();
  std::shared_ptr<kube::Transport> transport();
  cloud::InstanceListener& kubelet();
  // Runs the machine of a Ready Node that was restored after start(); before, start() does so.
  void take_over(const std::string& node);
  // etcd is restored from the backup, and all kubelets restart, as one does after that. Those whose
  // Nodes are gone register again.
  void go_back_to(const ApiServer::Backup& backup);
  // All of them, as after a repair: those whose Nodes are gone register again.
  void restart_kubelets();
  // nullptr: no extender configured.
  void set_extender(std::shared_ptr<ExtenderCaller> caller);
  // One more scheduler of the same name begins, beside those that work; `caller` is its own.
  void start_scheduler(std::shared_ptr<ExtenderCaller> caller);
  // The oldest one takes no further pod. What it has decided it still binds.
  void retire_scheduler();
  Recorder& recorder();

  // Begins scheduling and reconciling; call once, after the extender is set.
  void start();
  // Ends all activity; the API server still answers.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::sandbox
