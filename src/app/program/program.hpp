// Everything that `millwright controller` runs, in one list: Program::start(). What the leader runs
// is the Engine's (controller_set.hpp). Loop thread only.
#pragma once

#include "app/engine/leading.hpp"
#include "app/program/clouds.hpp"
#include "app/program/simulated_nodes.hpp"
#include "app/serving/servers.hpp"
#include "millwright/app/engine.hpp"
#include "millwright/app/settings.hpp"
#include "millwright/base/leadership.hpp"
#include "millwright/controllers/process/calling_scheduler.hpp"
#include "millwright/controllers/process/certificates.hpp"
#include "millwright/kube/config.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace millwright::app {

// How the API server is reached: by the kubeconfig of the settings, or as a pod.
base::Result<kube::Config> api_server_config(const Settings& settings,
                                             const Environment& environment);

class Program {
 public:
  struct Exits {
    // In good order, to be started again. The log says why.
    std::function<void(const std::string& why)> start_anew;
    // At once, with a failure: the work of a term of leadership did not end in time.
    std::function<void()> leave_at_once;
  };
  Program(Settings settings, base::Loop& loop, base::Logger log, Exits exits);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Makes every part and opens the plain ports. Nothing is asked of the API server yet.
  base::Result<> build(const Environment& environment);
  // The list of everything that runs.
  void start();
  // Returns when everything has ended. Nothing that was begun is left half written.
  base::Task<void> stop();

 private:
  void start_certificates();
  void start_calling_scheduler();
  void start_leading();
  void start_election();
  void make_leading();
  void start_anew();
  base::Task<void> lead(std::stop_token stop);
  void report_build();
  void report_leading(bool leading);

  Settings settings_;
  base::Loop& loop_;
  base::Logger log_;
  Exits exits_;
  base::Metrics metrics_;
  base::ComputeThreads compute_;
  Heartbeat heartbeat_;
  base::Leadership leadership_;
  std::unique_ptr<kube::Client> client_;  // what every replica does
  std::unique_ptr<kube::Client> leader_client_;
  std::unique_ptr<kube::Client> lease_client_;      // with a transport of its own
  std::unique_ptr<kube::Client> newcomers_client_;  // see CallerRights
  std::unique_ptr<kube::Client> renewals_client_;
  std::unique_ptr<SimulatedNodes> nodes_;
  std::unique_ptr<Clouds> clouds_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<controllers::CallingScheduler> calling_scheduler_;
  std::unique_ptr<Servers> servers_;
  std::unique_ptr<controllers::Certificates> certificates_;
  std::unique_ptr<Leading> leading_;
  bool rewound_ = false;  // etcd was restored from a backup
  base::TaskGroup group_;
};

}  // namespace millwright::app
