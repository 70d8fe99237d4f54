// A whole cluster stand-in: the API server with workload controllers, a kube-scheduler stand-in
// that calls the real extender, and a kubelet stand-in that makes Nodes of the simulated cloud's
// instances and runs their pods. Real, scaled or virtual time; the loop decides. Loop thread only.
//
// How it is wired (see app/wiring):
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

#include <memory>

namespace millwright::cloud {
class InstanceListener;
}  // namespace millwright::cloud

namespace millwright::sandbox {

// KubeSchedulerConfiguration's defaults, where they matter here.
struct SchedulerOptions {
  std::string name = "default-scheduler";
  base::Duration min_backoff = std::chrono::seconds(1);
  base::Duration max_backoff = std::chrono::seconds(10);
  // Pods that nothing woke are tried again after so long.
  base::Duration unschedulable_flush = std::chrono::minutes(5);
  std::int64_t extender_weight = 3;
  // From the decision to the binding being written, while the pod is only assumed on its node.
  base::Duration bind_latency = std::chrono::milliseconds(5);
};

struct KubeletOptions {
  base::Duration ready_after = std::chrono::seconds(5);  // from registration to Ready
  base::Duration pod_start = std::chrono::seconds(2);    // from binding to Running
  // From deletion until the containers have ended; at most the grace period. Longer than pod_start,
  // as a server that finishes its requests is.
  base::Duration pod_stop = std::chrono::seconds(8);
  base::Duration lease_interval = std::chrono::seconds(60);
  // A machine that stopped is reported Unknown after so long without a heartbeat.
  base::Duration unreachable_after = std::chrono::seconds(40);
  // Then its Node is deleted so much later, as a cloud controller manager does.
  base::Duration forgotten_after = std::chrono::seconds(5);
  // Pods of Jobs succeed so long after they started, unless the annotation kRunForAnnotation says
  // otherwise.
  base::Duration job_run_time = std::chrono::seconds(10);
};

// On a pod: a Go duration after which its containers end with success.
inline constexpr std::string_view kRunForAnnotation = "sandbox.millwright.io/run-for";

struct WorldOptions {
  std::uint64_t seed = 1;
  ApiServerOptions api;  // its seed is replaced by one drawn from `seed`
  SchedulerOptions scheduler;
  KubeletOptions kubelet;
  // How long a controller takes to see an event: spreads work over time as a real cluster does.
  base::Duration controller_lag = std::chrono::milliseconds(20);
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
  // nullptr: no extender configured.
  void set_extender(std::shared_ptr<ExtenderCaller> caller);
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
